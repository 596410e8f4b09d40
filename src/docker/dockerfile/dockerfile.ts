// The instructions of a Dockerfile, for hints and for the choice of the builder: only the builder itself
// decides what a Dockerfile means. The text is untrusted, so reading it takes time linear in its length.
import { codeOf, Failure, messageOf } from '../../errors.ts'

interface Instruction {
  /** In capitals; of `ONBUILD RUN` the `RUN`. */
  keyword: string
  rest: string
}

/** Continued lines are joined. A line of a heredoc counts as an instruction. */
function* instructionsOf(text: string): Generator<Instruction> {
  const escapeChar = /^#[ \t]*escape[ \t]*=[ \t]*`/im.test(text) ? '`' : '\\'
  let pieces: string[] = []
  for (const line of text.replace(/^\xEF\xBB\xBF/, '').split('\n')) {
    if (/^\s*(#|$)/.test(line)) continue
    const piece = line.trimEnd()
    const isContinued = piece.endsWith(escapeChar)
    pieces.push(isContinued ? piece.slice(0, -1) : piece)
    if (isContinued) continue
    yield parse(pieces.join(''))
    pieces = []
  }
  if (pieces.length > 0) yield parse(pieces.join(''))
}

function parse(line: string): Instruction {
  const [, keyword = '', rest = ''] = /^\s*(?:onbuild\s+)?([a-z]*)(.*)$/is.exec(line) ?? []
  return { keyword: keyword.toUpperCase(), rest }
}

export function stagesOf(text: string): string[] {
  return [...instructionsOf(text)].flatMap(({ keyword, rest }) => {
    const [, as = '', name] = keyword === 'FROM' ? rest.split(/\s+/).filter(isNoFlag) : []
    return as.toUpperCase() === 'AS' && name !== undefined ? name : []
  })
}

function isNoFlag(word: string): boolean {
  return word !== '' && !word.startsWith('--')
}

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

// The classic builder silently ignores some of what only BuildKit can build, such as the platform arguments.

const flags: Record<string, RegExp> = {
  RUN: /^\s*(?:--\S+\s+)*(--(?:mount|network|security))\b/,
  COPY: /^\s*(?:--\S+\s+)*(--(?:link|chmod|parents|exclude))\b/,
  ADD: /^\s*(?:--\S+\s+)*(--(?:link|chmod|checksum|keep-git-dir|exclude))\b/,
}
const heredoc = /(?:^|\s)\d*(<<-?["']?[A-Za-z_]\w*)/
const platformArgument = /\b((?:BUILD|TARGET)(?:PLATFORM|OS|ARCH|VARIANT))\b/
/** BuildKit's built-in frontend. Its newer releases add only features that are checked for here. */
const usualFrontend = /^(?:docker\.io\/)?docker\/dockerfile(?::|@|$)/

const maxShownLength = 100

/** The feature as written in the Dockerfile (`RUN --mount`); null if the classic builder suffices. */
export function buildKitFeature(dockerfile: string): string | null {
  const frontend = frontendOf(dockerfile)
  if (frontend !== null && !usualFrontend.test(frontend))
    return `# syntax=${frontend.slice(0, maxShownLength)}`
  for (const { keyword, rest } of instructionsOf(dockerfile)) {
    const flag = flags[keyword]?.exec(rest)?.[1]
    if (flag !== undefined) return `${keyword} ${flag}`
    const document = keyword in flags ? heredoc.exec(rest)?.[1] : undefined
    if (document !== undefined) return `${keyword} ${document.slice(0, maxShownLength)}`
    const argument = keyword === 'FROM' || keyword === 'ARG' ? platformArgument.exec(rest)?.[1] : undefined
    if (argument !== undefined) return `${keyword} with ${argument}`
  }
  return null
}

/** The frontend named in the comments at the start of a Dockerfile. */
function frontendOf(dockerfile: string): string | null {
  for (const line of dockerfile.replace(/^\xEF\xBB\xBF/, '').split('\n')) {
    const [, name = '', value = ''] = /^\s*#\s*(\w+)\s*=\s*(\S+)/.exec(line) ?? []
    if (name === '') return null
    if (name.toLowerCase() === 'syntax') return value
  }
  return null
}
