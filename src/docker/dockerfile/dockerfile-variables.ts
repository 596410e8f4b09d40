// The texts that a word of a Dockerfile may expand to, by the rules of BuildKit's `shlex`. The base image
// and the builder set variables that are unknown here, so one word can have several expansions.
import { type Escape, linesOf } from './dockerfile-lines.ts'

/** All values that a variable may have. */
export type Variables = ReadonlyMap<string, readonly string[]>

/** Marks a value that is unknown here. */
export const unknown = '\0'
/** Marks a text that may be anything: an unsupported operator, or too many expansions. */
export const anything = '\x01'

const maxTexts = 256
const maxChars = 8192

/**
 * The values that instructions and build arguments assign to variables, in any stage. A value that applies
 * only to another stage also counts as possible.
 */
export function variablesOf(text: string, buildArgs: Record<string, string>, escapeChar: Escape): Variables {
  const variables = new Map<string, string[]>()
  for (const { keyword, rest } of linesOf(text, ['ARG', 'ENV'], escapeChar)) {
    for (const [key, value] of assignmentsIn(rest, escapeChar)) {
      for (const name of expansions(key, variables, escapeChar)) {
        const isGiven = keyword === 'ARG' && Object.hasOwn(buildArgs, name)
        const values = isGiven ? [buildArgs[name]!] : expansions(value, variables, escapeChar)
        variables.set(name, bounded([...(variables.get(name) ?? []), ...values]))
      }
    }
  }
  for (const [name, value] of Object.entries(buildArgs)) {
    variables.set(name, bounded([...(variables.get(name) ?? []), value]))
  }
  return variables
}

/** The assignments in `NAME=VALUE …` or `NAME VALUE`, by both rules of splitting into words. */
function assignmentsIn(rest: string, escapeChar: Escape): [string, string][] {
  const escaped = `\\${escapeChar}[^]`
  const word = new RegExp(`(?:'[^']*'|"(?:${escaped}|[^"\\${escapeChar}])*"|${escaped}|\\S)+`, 'g')
  const words = new Set([...(rest.match(word) ?? []), ...rest.split(/\s+/)])
  const [, name, value] = /^([^\s=]+)\s+([\s\S]*)$/.exec(rest) ?? []
  const spaced: [string, string][] = name === undefined ? [] : [[name, value!.trim()]]
  const equal = [...words].flatMap((one): [string, string][] => {
    const at = one.indexOf('=')
    return at > 0 ? [[one.slice(0, at), one.slice(at + 1)]] : []
  })
  return [...spaced, ...equal]
}

/** All expansions of a word. */
export function expansions(word: string, variables: Variables, escapeChar: Escape): string[] {
  if (word.length > maxChars) return [anything]
  return new Expansion(word, variables, escapeChar).readTo(null)
}

class Expansion {
  #index = 0
  readonly #word: string
  readonly #variables: Variables
  readonly #escape: Escape

  constructor(word: string, variables: Variables, escapeChar: Escape) {
    this.#word = word
    this.#variables = variables
    this.#escape = escapeChar
  }

  /**
   * Expands the word up to the stop character and consumes that character. Inside double quotes, single
   * quotes are literal and fewer characters can be escaped.
   */
  readTo(stop: '}' | '"' | null): string[] {
    const isQuoted = stop === '"'
    let texts = ['']
    let tail = ''
    while (this.#index < this.#word.length) {
      const char = this.#word[this.#index++]!
      if (char === stop) break
      const next = this.#read(char, isQuoted)
      if (typeof next === 'string') tail += next
      else {
        texts = product(product(texts, [tail]), next)
        tail = ''
      }
    }
    return product(texts, [tail])
  }

  /** The text that begins with the given character, or all its possible expansions. */
  #read(char: string, isQuoted: boolean): string | string[] {
    if (char === '$') return this.#readVariable()
    if (char === this.#escape) return this.#readEscaped(isQuoted)
    if (char === '"') return this.readTo('"')
    return char === "'" && !isQuoted ? this.#readLiteral() : char
  }

  #readEscaped(isQuoted: boolean): string {
    const char = this.#word[this.#index++] ?? ''
    return isQuoted && !['"', '$', this.#escape].includes(char) ? this.#escape + char : char
  }

  #readLiteral(): string {
    const end = this.#word.indexOf("'", this.#index)
    const literal = this.#word.slice(this.#index, end < 0 ? undefined : end)
    this.#index = end < 0 ? this.#word.length : end + 1
    return literal
  }

  #readVariable(): string[] {
    if (this.#word[this.#index] !== '{') {
      const name = this.#take(/\w+|[@*#?$!-]/y)
      return name === '' ? ['$'] : this.#valuesOf(name)
    }
    this.#index++
    const values = this.#valuesOf(this.#take(/\w+|[@*#?$!-]/y))
    if (this.#take(/\}/y)) return values
    const operator = this.#take(/:?./sy)
    const other = this.readTo('}')
    // Whether the variable is set is unknown: both cases count.
    if (/^:?[-+]$/.test(operator)) return bounded([...values, ...other, ''])
    return /^:?\?$/.test(operator) ? values : [anything]
  }

  /** Also nothing, where it may have no value. */
  #valuesOf(name: string): string[] {
    return [...(this.#variables.get(name) ?? ['', unknown])]
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#index
    const match = pattern.exec(this.#word)?.[0] ?? ''
    this.#index += match.length
    return match
  }
}

function product(texts: string[], others: string[]): string[] {
  if (texts.length * others.length > maxTexts) return [anything]
  return bounded(texts.flatMap((text) => others.map((other) => text + other)))
}

/** Variables that contain each other several times would fill the memory. */
function bounded(texts: string[]): string[] {
  const distinct = [...new Set(texts)]
  const isTooMuch = distinct.length > maxTexts || distinct.some((text) => text.length > maxChars)
  return isTooMuch ? [anything] : distinct
}
