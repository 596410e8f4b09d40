// Patterns of folders, as the members of workspaces have them: `*` is one folder, or the rest of its name,
// and everything below `**` fits.

/** Of those with a `*`, each is compared with each folder. */
const maxOpen = 100

interface Pattern {
  parts: { head: string; tail: string | null }[]
  isDeep: boolean
}

/** Whether a folder fits one of the patterns, and none that begins with `!`. Each pattern is split once. */
export function createFolderTest(patterns: string[]): (folder: string) => boolean {
  const isNegative = (pattern: string) => pattern.startsWith('!')
  const fits = createIndex(patterns.filter((pattern) => !isNegative(pattern)))
  const excludes = createIndex(patterns.filter(isNegative).map((pattern) => pattern.slice(1)))
  return (folder) => {
    const parts = folder.split('/')
    return fits(parts) && !excludes(parts)
  }
}

function createIndex(patterns: string[]): (parts: string[]) => boolean {
  const named = new Set(patterns.filter((pattern) => !pattern.includes('*')))
  const open = patterns
    .filter((pattern) => pattern.includes('*'))
    .slice(0, maxOpen)
    .map(toPattern)
  return (parts) => named.has(parts.join('/')) || open.some((pattern) => matches(parts, pattern))
}

function toPattern(text: string): Pattern {
  const all = text.split('/')
  const deep = all.indexOf('**')
  const parts = (deep === -1 ? all : all.slice(0, deep)).map((part) => {
    const [head = '', ...rest] = part.split('*')
    return { head, tail: rest.at(-1) ?? null }
  })
  return { parts, isDeep: deep !== -1 }
}

/** Lengths are compared first, so what a pattern costs is bounded by the folder's depth. */
function matches(names: string[], { parts, isDeep }: Pattern): boolean {
  if (isDeep ? names.length < parts.length : names.length !== parts.length) return false
  return parts.every(({ head, tail }, index) => {
    const name = names[index] ?? ''
    return tail === null ? name === head : name.startsWith(head) && name.endsWith(tail)
  })
}
