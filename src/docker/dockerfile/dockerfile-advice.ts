// Adds what helps to a failure by which the engine refused a Dockerfile.
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { instructionsOf, stagesOf } from './dockerfile.ts'

const missingStage = /target stage .* could not be found|failed to reach build target/
const maxStages = 20
const maxListLength = 1000

/** The same error where nothing is known that helps. */
export function withDockerfileAdvice(error: unknown, dockerfile: string, target: string | null): unknown {
  if (codeOf(error) !== 'build_failed') return error
  const message = messageOf(error)
  if (target && missingStage.test(message))
    return new Failure('build_failed', stageAdvice(dockerfile, target))
  if (!/unknown instruction/i.test(message) || !needsNewerFrontend(dockerfile)) return error
  return new Failure('build_failed', `${message}; ${heredocAdvice}`)
}

function stageAdvice(dockerfile: string, target: string): string {
  const names = stagesOf(dockerfile).slice(0, maxStages).join(', ').slice(0, maxListLength)
  const stageList = names === '' ? 'its stages have no names (FROM image AS name)' : `its stages are ${names}`
  return `the Dockerfile has no stage '${target}' (--build-target): ${stageList}`
}

/** An engine before 23 needs a newer frontend for heredocs, and calls their lines unknown instructions. */
const heredocAdvice =
  "this engine knows heredocs (<<EOF) only with '# syntax=docker/dockerfile:1' as the first line " +
  'of the Dockerfile, and with BuildKit'

function needsNewerFrontend(dockerfile: string): boolean {
  if (/^#[ \t]*syntax[ \t]*=/im.test(dockerfile)) return false
  return [...instructionsOf(dockerfile)].some(
    ({ keyword, rest }) => ['RUN', 'COPY', 'ADD'].includes(keyword) && /<<-?["']?[A-Za-z_]/.test(rest),
  )
}
