// Why a build failed, in one line for people. Pure. BuildKit's own texts carry the layers they came through,
// and the paths of its mounts; the step that failed says more.
import type { Vertex } from './build-status.ts'

const maxStepLength = 120

export function describeBuildFailure(error: string, step: Pick<Vertex, 'name' | 'error'> | null): string {
  if (step === null) return cleanError(error)
  const baseImage = baseImageOf(step.name)
  if (baseImage !== null) return `the base image ${baseImage} cannot be had: ${cleanError(step.error)}`
  const code = exitCodeOf(step.error)
  const name = shorten(stepName(step.name))
  return code === null ? `${name}: ${cleanError(step.error)}` : `${name} ${explainStepExit(code)}`
}

function baseImageOf(step: string): string | null {
  const name = /^\[internal\] load metadata for (\S+)/.exec(step)?.[1]
  return name?.replace(/^docker\.io\/(library\/)?/, '') ?? null
}

/** `[2/5] RUN npm ci` is `RUN npm ci`. */
function stepName(name: string): string {
  return oneLine(name.replace(/^\[[^\]]*\] /, ''))
}

// "executor failed running [/bin/sh -c x]: exit code: 1", since BuildKit 0.10 "process "/bin/sh -c x" did not
// complete successfully: exit code: 1".
function exitCodeOf(error: string): number | null {
  const code = /exit code: (\d+)/.exec(error)?.[1]
  return code === undefined ? null : Number(code)
}

function explainStepExit(code: number): string {
  if (code === 127) return 'exited with code 127: command not found'
  if (code === 137) return 'was killed (exit code 137), most likely because the host ran out of memory'
  return `exited with code ${code}`
}

const wrappers = [
  /^rpc error: code = \w+ desc = /,
  /^failed to solve( with frontend [\w.]+)?: /,
  /^failed to create LLB definition: /,
  /^failed to (compute cache key|calculate checksum of ref \S+): /,
]

function cleanError(error: string): string {
  const text = oneLine(error)
  const wrapper = wrappers.find((one) => one.test(text))
  if (wrapper !== undefined) return cleanError(text.replace(wrapper, ''))
  return text.replace(/ not found: not found$/, ' not found')
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function shorten(text: string): string {
  return text.length <= maxStepLength ? text : `${text.slice(0, maxStepLength - 1)}…`
}
