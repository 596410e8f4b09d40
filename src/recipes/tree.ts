// What a recipe knows of a source: the names of its files, and the text of those that rules read.
import { parse as parseToml } from 'smol-toml'

/** Paths are relative to the folder, with `/`. Pure: nothing is read after it was made. */
export class Tree {
  #folders: Map<string, Tree> | null = null
  readonly #parsed = new Map<string, Record<string, unknown>>()

  constructor(
    readonly files: ReadonlySet<string>,
    private readonly texts: ReadonlyMap<string, string>,
  ) {}

  has(path: string): boolean {
    return this.files.has(path)
  }

  /** The first of the paths that is a file. */
  first(...paths: string[]): string | null {
    return paths.find((path) => this.files.has(path)) ?? null
  }

  /** The paths that match, in the order of code units. */
  find(pattern: RegExp): string[] {
    return [...this.files].filter((path) => pattern.test(path)).sort()
  }

  hasFolder(folder: string): boolean {
    return this.in(folder).files.size > 0
  }

  /** Empty for a file that is missing, too large, or of a kind that no rule reads. */
  text(path: string): string {
    return this.texts.get(path) ?? ''
  }

  /** An empty object for a file that is missing or invalid. Comments and trailing commas are allowed. */
  json(path: string): Record<string, unknown> {
    return this.#parseOnce(path, (text) => {
      const strict = parseObject(() => JSON.parse(text) as unknown)
      return strict ?? parseObject(() => parseJsonc(text))
    })
  }

  /** An empty object for a file that is missing or no valid TOML. */
  toml(path: string): Record<string, unknown> {
    return this.#parseOnce(path, (text) => parseObject(() => parseToml(text)))
  }

  #parseOnce(path: string, parse: (text: string) => Record<string, unknown> | null) {
    const parsed = this.#parsed.get(path) ?? parse(this.text(path)) ?? {}
    this.#parsed.set(path, parsed)
    return parsed
  }

  /** The tree of a folder in it. The empty path is the tree itself. */
  in(folder: string): Tree {
    const [first, ...rest] = folder.split('/').filter((part) => part !== '' && part !== '.')
    if (first === undefined) return this
    this.#folders ??= this.#splitOnce()
    const child = this.#folders.get(first) ?? none
    return child.in(rest.join('/'))
  }

  /** All folders right in it at once: asking for each of many would visit every file each time. */
  #splitOnce(): Map<string, Tree> {
    const folders = new Map<string, { files: Set<string>; texts: Map<string, string> }>()
    for (const path of this.files) {
      const at = path.indexOf('/')
      if (at === -1) continue
      const folder = folders.get(path.slice(0, at)) ?? { files: new Set(), texts: new Map() }
      folders.set(path.slice(0, at), folder)
      folder.files.add(path.slice(at + 1))
      const text = this.texts.get(path)
      if (text !== undefined) folder.texts.set(path.slice(at + 1), text)
    }
    return new Map([...folders].map(([name, { files, texts }]) => [name, new Tree(files, texts)]))
  }
}

const none = new Tree(new Set(), new Map())

/** A tree from its texts, for files that are already in memory. */
export function treeOf(texts: Record<string, string>): Tree {
  return new Tree(new Set(Object.keys(texts)), new Map(Object.entries(texts)))
}

function parseObject(parse: () => unknown): Record<string, unknown> | null {
  try {
    const value = parse()
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

/** An unclosed string or comment matches to its end, so the time stays linear. */
function parseJsonc(text: string): unknown {
  const string = String.raw`("(?:\\.|[^"\\\n])*"?)`
  const comment = String.raw`\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`
  const withoutComments = text.replace(new RegExp(`${string}|${comment}`, 'g'), '$1')
  return JSON.parse(withoutComments.replace(new RegExp(`${string}|,(?=\\s*[\\]}])`, 'g'), '$1'))
}
