// Env files by the rules of Docker Compose, but without interpolation: a `$` is always literal.

const bytesPerMib = 1024 * 1024

/** The variables of a service may have 512 KiB, and escapes can double that. The rest is for comments. */
export const envFileLimitMib = 2

export const envKeyPattern = /^[A-Za-z_][A-Za-z0-9_]*$/
export const envKeyRule = 'must be letters, digits and _, and not start with a digit'

/** The message names the line, and contains no value. */
export class InvalidEnvFile extends Error {}

interface Variable {
  key: string
  value: string
}

/** Throws InvalidEnvFile, also for a key that comes twice. Takes linear time. */
export function parseEnvFile(
  text: string,
  { keyPattern = envKeyPattern, mayRepeat = false }: { keyPattern?: RegExp; mayRepeat?: boolean } = {},
): Variable[] {
  if (new TextEncoder().encode(text).length > envFileLimitMib * bytesPerMib) {
    throw new InvalidEnvFile(`it is larger than ${envFileLimitMib} MiB`)
  }
  const values = new Map<string, string>()
  let at = text.startsWith('\uFEFF') ? 1 : 0
  while (at < text.length) {
    const line = text.slice(at, endOfLine(text, at))
    if (isBlankOrComment(line)) {
      at += line.length + 1
      continue
    }
    const { key, value, end } = parseVariable(text, at, line, keyPattern)
    if (values.has(key) && !mayRepeat) throw invalidAt(text, at, `${key} is set a second time`)
    values.set(key, value)
    at = end + 1
  }
  return [...values].map(([key, value]) => ({ key, value }))
}

/** `line` starts at `at`; `end` is the end of the last line of the value. */
function parseVariable(
  text: string,
  at: number,
  line: string,
  keyPattern: RegExp,
): Variable & { end: number } {
  const equals = line.indexOf('=')
  if (equals === -1) throw invalidAt(text, at, 'there is no =')
  const words = line.slice(0, equals).trim()
  const key = words.replace(/^export\s+/, '')
  if (!keyPattern.test(key)) throw invalidAt(text, at, `${shownName(key)} ${envKeyRule}`)
  const after = line.slice(equals + 1)
  const quote = after.trimStart()[0]
  if (quote !== '"' && quote !== "'") return { key, value: unquoted(after), end: at + line.length }
  const open = text.indexOf(quote, at + equals)
  const close = closingQuote(text, open)
  if (close === -1) throw invalidAt(text, open, `the value of ${key} has no closing ${quote}`)
  const end = endOfLine(text, close)
  if (!isBlankOrComment(text.slice(close + 1, end))) {
    throw invalidAt(text, close, `there is text after the closing ${quote} of ${key}`)
  }
  const body = text.slice(open + 1, close)
  return { key, value: quote === '"' ? withoutEscapes(body) : body.replaceAll("\\'", "'"), end }
}

/** A line that is parsed back to exactly this value. Docker Compose and, mostly, a shell read the same. */
export function toEnvLine({ key, value }: Variable): string {
  if (/^[\w./:@%+,=-]*$/.test(value)) return `${key}=${value}`
  // A line feed can stay as it is in both kinds of quotes, so that a certificate remains readable.
  const needsEscapes = /['\\]|(?!\n)\p{Cc}/u.test(value)
  return needsEscapes
    ? `${key}="${value.replace(/["\\$]|(?!\n)\p{Cc}/gu, escapeLetter)}"`
    : `${key}='${value}'`
}

const escapes: Record<string, string> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

function withoutEscapes(text: string): string {
  return text.replace(/\\(?:([abfnrtv"$\\])|0([0-3][0-7]{2}))/g, (_, letter: string, octal: string) =>
    letter ? (escapes[letter] ?? letter) : String.fromCharCode(Number.parseInt(octal, 8)),
  )
}

function escapeLetter(letter: string): string {
  if (/["\\$]/.test(letter)) return `\\${letter}`
  const name = Object.keys(escapes).find((name) => escapes[name] === letter)
  return name ? `\\${name}` : `\\0${letter.charCodeAt(0).toString(8).padStart(3, '0')}`
}

function unquoted(text: string): string {
  const comment = text.indexOf(' #')
  return text.slice(0, comment === -1 ? undefined : comment).trim()
}

function isBlankOrComment(text: string): boolean {
  return /^\s*(#|$)/.test(text)
}

/** Without its line feed. */
function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

/** A backslash keeps a quote open, in both kinds of quotes. */
function closingQuote(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === text[open]) return at
  }
  return -1
}

function invalidAt(text: string, at: number, problem: string): InvalidEnvFile {
  return new InvalidEnvFile(`line ${text.slice(0, at).split('\n').length}: ${problem}`)
}

/** What precedes a `=` can be part of a secret, unless it looks like a name. */
function shownName(key: string): string {
  return /^[A-Za-z_][\w.-]{0,63}$/.test(key) ? key : 'the name'
}
