// The report of a mutation run: the undetected changes, and the detection rates.

type Status = 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'RuntimeError' | 'CompileError' | 'Ignored'

interface Mutant {
  mutatorName: string
  replacement: string
  status: Status
  location: { start: Place; end: Place }
}

/** Both are 1-based. */
interface Place {
  line: number
  column: number
}

export interface Report {
  files: Record<string, { source: string; mutants: Mutant[] }>
}

const isSurvivor = ({ status }: Mutant) => status === 'Survived' || status === 'NoCoverage'
const isNoticed = ({ status }: Mutant) => status === 'Killed' || status === 'Timeout'

/** A line per undetected change: its place, the original and the replacement. */
export function describeSurvivors(files: Report['files']): string[] {
  return Object.entries(files).flatMap(([path, { source, mutants }]) =>
    mutants.filter(isSurvivor).map(({ location, replacement, status }) => {
      const { line, column } = location.start
      const original = shorten(textAt(source.split('\n'), location))
      const mark = status === 'NoCoverage' ? ' (no test comes here)' : ''
      return `${path}:${line}:${column} ${original} -> ${shorten(replacement)}${mark}`
    }),
  )
}

/** A line per file and folder, and a total. */
export function scores(files: Report['files']): string[] {
  const folders = foldersOf(files)
  const paths = Object.keys(files).sort()
  const rows = folders.flatMap((folder) => [...paths.filter((path) => path.startsWith(folder)), folder])
  return [...rows, ''].map((prefix) => {
    const { noticed, survived, score } = scoreOf(files, prefix)
    const percentage = score.toFixed(1).padStart(6)
    return `${(prefix || 'all').padEnd(32)}${percentage} %  ${noticed} noticed, ${survived} not`
  })
}

/** Whether the tests of every folder detect 80 % of the changes. */
export function isEnough(files: Report['files']): boolean {
  return foldersOf(files).every((folder) => scoreOf(files, folder).score >= 80)
}

function foldersOf(files: Report['files']): string[] {
  return [...new Set(Object.keys(files).map((path) => path.slice(0, path.lastIndexOf('/') + 1)))]
}

function scoreOf(files: Report['files'], prefix: string) {
  const paths = Object.keys(files).filter((path) => path.startsWith(prefix))
  const mutants = paths.flatMap((path) => files[path]!.mutants)
  const noticed = mutants.filter(isNoticed).length
  const survived = mutants.filter(isSurvivor).length
  return { noticed, survived, score: (100 * noticed) / Math.max(1, noticed + survived) }
}

function textAt(lines: string[], { start, end }: Mutant['location']): string {
  const inside = lines.slice(start.line - 1, end.line)
  const last = inside.length - 1
  const endColumn = start.line === end.line ? end.column - start.column : end.column - 1
  inside[0] = inside[0]!.slice(start.column - 1)
  inside[last] = inside[last]!.slice(0, endColumn)
  return inside.join('\n')
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 60 ? `${line.slice(0, 57)}...` : line
}
