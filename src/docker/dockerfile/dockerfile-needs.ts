// Finds the parts of a Dockerfile that only BuildKit can build. The classic builder silently ignores some of
// them, such as the platform arguments, which are then empty. Known differences are therefore checked before
// the build.
import { instructionsOf } from './dockerfile.ts'

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
