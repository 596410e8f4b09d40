// The instructions that a builder may read in a Dockerfile, for a check that must miss none. Builders
// differ in their escape character, in `\\` at the end of a line and in heredocs, so every line may start
// an instruction, even inside another one. Whitespace and line ends follow BuildKit's parser.
import { Failure } from '../../errors.ts'

export interface Line {
  /** In capitals. */
  keyword: string
  rest: string
}

export type Escape = '\\' | '`'

/** A line that is continued is read again from each of its continuations: this bounds the work. */
const maxChars = 4 * 1024 * 1024
/** Longer than any keyword with its trigger. */
const keywordChars = 16

/** The instructions with one of the keywords, also as triggers. Throws `build_failed` for overlong ones. */
export function* linesOf(text: string, keywords: readonly string[], escapeChar: Escape): Generator<Line> {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''))
  let read = 0
  for (const isDoubleContinued of [true, false]) {
    for (let index = 0; index < lines.length; index++) {
      const joined = join(lines, index, { escapeChar, isDoubleContinued }, keywords)
      read += joined?.length ?? 0
      if (read > maxChars) throw new Failure('build_failed', 'the Dockerfile has overlong continued lines')
      const line = joined === null ? null : parse(joined)
      if (line && keywords.includes(line.keyword)) yield line
    }
  }
}

interface Reading {
  escapeChar: Escape
  /** Whether an escaped escape character at the end of a line continues it. */
  isDoubleContinued: boolean
}

/**
 * Joins the instruction that starts at line `start`, without comments and empty lines in between. Null if the
 * instruction does not start with a keyword.
 */
function join(lines: string[], start: number, reading: Reading, keywords: readonly string[]): string | null {
  const pieces: string[] = []
  let beginning = ''
  for (let index = start; index < lines.length; index++) {
    const line = lines[index]!
    const trimmed = trimStart(line)
    if (index > start && (trimmed === '' || trimmed.startsWith('#'))) continue
    const { content, isContinued } = continuation(beginning === '' ? trimmed : line, reading)
    pieces.push(content)
    if (beginning.length < keywordChars) {
      beginning += content.slice(0, keywordChars)
      if (!mayBegin(beginning, keywords)) return null
    }
    if (!isContinued) break
  }
  return pieces.join('')
}

function continuation(line: string, { escapeChar, isDoubleContinued }: Reading) {
  const end = line.replace(/[ \t]+$/, '')
  const isContinued = end.endsWith(escapeChar) && (isDoubleContinued || end.at(-2) !== escapeChar)
  return { content: isContinued ? end.slice(0, -1) : line, isContinued }
}

function mayBegin(text: string, keywords: readonly string[]): boolean {
  const word = /^[a-z]*/i.exec(text)![0].toUpperCase()
  const isComplete = word.length < text.length
  const keywordList = ['ONBUILD', ...keywords]
  return isComplete ? keywordList.includes(word) : keywordList.some((keyword) => keyword.startsWith(word))
}

function parse(joined: string): Line {
  const [, word = '', rest = ''] = /^([a-z]+)[\t\v\f\r ]+([\s\S]*)$/i.exec(joined) ?? []
  const keyword = word.toUpperCase()
  return keyword === 'ONBUILD' ? parse(trimStart(rest)) : { keyword, rest }
}

/** U+0085 counts as whitespace, as in Go. */
function trimStart(line: string): string {
  return line.replace(/^[\s\u0085]+/, '')
}
