// A YAML file as data, and the line of each of its parts.
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'

/** The message names the line. */
export class InvalidYaml extends Error {}

export type Path = readonly PropertyKey[]

export interface YamlFile {
  /** With the types of YAML 1.2: texts, numbers, booleans, null. */
  value: unknown
  /** With every scalar as the text in the file: `1.10`, `0755`, and an empty text for null. */
  texts: unknown
  /** The line of the deepest part of the path that exists. */
  lineOf(path: Path): number
}

/** As many as 5,000 keys of one map take: each is compared with those before it. */
const maxComparisons = 12_500_000

/** Throws InvalidYaml. Anchors and merge keys are resolved. */
export function readYaml(text: string): YamlFile {
  const lines = new LineCounter()
  const options = { merge: true, prettyErrors: false, logLevel: 'error' } as const
  let comparisons = 0
  const uniqueKeys = (one: unknown, other: unknown) => {
    comparisons += 1
    if (comparisons > maxComparisons) throw new InvalidYaml('it has too many keys: a map may have 5,000')
    return isScalar(one) && isScalar(other) && one.value === other.value
  }
  try {
    const document = parseDocument(text, { ...options, uniqueKeys, lineCounter: lines })
    const [error] = document.errors
    if (error) throw new InvalidYaml(`line ${lines.linePos(error.pos[0]).line}: ${error.message}`)
    const value = document.toJS()
    // Throws for an alias inside of its own anchor. Zod would drop such a key without a word.
    if (JSON.stringify(value)?.includes('"__proto__":')) throw new InvalidYaml('__proto__ cannot be a key')
    return {
      value,
      texts: parseDocument(text, { ...options, uniqueKeys: false, schema: 'failsafe' }).toJS(),
      lineOf: (path) => lines.linePos(offsetOf(document, path)).line,
    }
  } catch (problem) {
    if (problem instanceof InvalidYaml) throw problem
    // An alias without its anchor, aliases that multiply, or lists in lists without an end.
    const isEndless = problem instanceof RangeError || problem instanceof TypeError
    throw new InvalidYaml(isEndless ? 'it is nested without an end' : (problem as Error).message)
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Undefined if there is nothing. */
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((found, key) => (isRecord(found) ? found[String(key)] : undefined), value)
}

function offsetOf(document: Document, path: Path): number {
  let node: unknown = document.contents
  let offset = 0
  for (const key of path) {
    const found = childOf(document, node, key)
    if (!found) break
    offset = found.at.range?.[0] ?? offset
    node = found.value
  }
  return offset
}

/** With where a reader looks for it: the key of a pair, or the item of a list. */
function childOf(document: Document, parent: unknown, key: PropertyKey): { at: Node; value: unknown } | null {
  const node = isAlias(parent) ? parent.resolve(document) : parent
  if (isSeq(node)) {
    const item = node.items[Number(key)]
    return item === undefined ? null : { at: item as Node, value: item }
  }
  if (!isMap(node)) return null
  const named = (wanted: PropertyKey) =>
    node.items.find((pair) => isScalar(pair.key) && String(pair.key.source ?? pair.key.value) === wanted)
  const pair = named(key)
  if (pair) return { at: pair.key as Node, value: pair.value }
  const merged = named('<<')?.value
  return merged === undefined ? null : childOf(document, merged, key)
}
