// A Compose file with the values of its variables, and where its surroundings have others.
import { isRecord, type Path, readYaml, valueAt } from '../yaml.ts'
import { expandEnv, interpolate, variableIn } from './interpolate.ts'

export interface Surroundings {
  /** The .env next to the Compose file. */
  env: ReadonlyMap<string, string>
  /** The folder of the Compose file, from that of the blueprint. */
  base: string
  /** The name of the folder of the Compose file. */
  folderName?: string
  /** These take paths from the Compose file. Null for a file that cannot be read. */
  readEnvFile(path: string): { key: string; value: string }[] | null
  readText?(path: string): string | null
  isFolder?(path: string): boolean | null
}

export type Remark = (path: Path, reason: string) => void

export interface ComposeText {
  root: Record<string, unknown>
  lineOf(path: Path): number
  env: ReadonlyMap<string, string>
  /** Whether the text there has a value from .env, and whether a variable of it has none. */
  isPrivate(path: Path): boolean
  isUnknown(path: Path): boolean
  isNull(path: Path): boolean
  /** As it is in the file, with its variables. */
  rawAt(path: Path): string | undefined
  /** The variable that a text of the file is as a whole: `.env:DB_PASSWORD`. */
  variableIn(text: string): string | null
}

/** Throws InvalidYaml. */
export function readCompose(text: string, given: ReadonlyMap<string, string>, remark: Remark): ComposeText {
  const file = readYaml(text)
  const env = expandEnv([...given].map(([key, value]) => ({ key, value })))
  const raw = new Map<string, string>()
  const privatePaths = new Set<string>()
  const unknownPaths = new Set<string>()
  const root = mapTexts(file.texts, [], (value, path) => {
    if (valueAt(file.value, path) === null) return ''
    const at = path.join('\0')
    const isMount = path[0] === 'services' && path[2] === 'volumes'
    const { text, isPrivate, unset } = interpolate(value, env, isMount ? (name) => `\${${name}}` : undefined)
    raw.set(at, value)
    if (isPrivate) privatePaths.add(at)
    if (unset.length > 0) unknownPaths.add(at)
    if (unset.length > 0 && !isMount)
      remark(path, `not in .env: ${unset.join(', ')}; empty, or in a variable a secret`)
    return text
  })
  return {
    root: isRecord(root) ? root : {},
    lineOf: file.lineOf,
    env,
    isPrivate: (path) => privatePaths.has(path.join('\0')),
    isUnknown: (path) => unknownPaths.has(path.join('\0')),
    isNull: (path) => valueAt(file.value, path) === null,
    rawAt: (path) => raw.get(path.join('\0')),
    variableIn(text) {
      const name = variableIn(text, env)
      return name === null ? null : `.env:${name}`
    },
  }
}

function mapTexts(value: unknown, path: Path, change: (text: string, path: Path) => string): unknown {
  if (typeof value === 'string') return change(value, path)
  if (Array.isArray(value)) return value.map((one, index) => mapTexts(one, [...path, index], change))
  const entries = Object.entries(isRecord(value) ? value : {})
  return Object.fromEntries(entries.map(([key, one]) => [key, mapTexts(one, [...path, key], change)]))
}
