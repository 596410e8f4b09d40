// JSON that a stranger sent: strictly UTF-8, and small enough to be copied and validated on the event loop.
import { invalidRequest } from '../errors.ts'

/** Each bracket and comma counts: a variable as four. */
const maxBodyValues = 10_000
/** A page of a git provider has 100 repositories of some 500 keys, values and commas. */
const maxAnswerValues = 100_000
const maxDepth = 200

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Of a request: its values are validated and stored. Throws `invalid_request`, without any value in it. */
export function parseBody(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  if (hasLoneSurrogate(text)) {
    throw invalidRequest(
      'the body has an unpaired surrogate: one of \\ud800 to \\udfff without its counterpart',
    )
  }
  return parseSmall(text, maxBodyValues)
}

/** Of a server, which may have cut a text. Throws `invalid_request`. */
export function parseAnswer(bytes: Uint8Array): unknown {
  return parseSmall(new TextDecoder().decode(bytes), maxAnswerValues)
}

function parseSmall(text: string, maxValues: number): unknown {
  if (!isSmallJson(text, maxValues))
    throw invalidRequest(
      `the JSON has more than ${maxValues} values, or is nested more than ${maxDepth} levels deep`,
    )
  try {
    return JSON.parse(text)
  } catch {
    throw invalidRequest('the body is not valid JSON')
  }
}

/** Counts before anything is parsed: deep values take a hundred times as long as others of their size. */
export function isSmallJson(text: string, maxValues: number): boolean {
  let [depth, values] = [0, 1]
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') at = endOfString(text, at)
    else if (character === '[' || character === '{') depth++
    else if (character === ']' || character === '}') depth--
    else if (character !== ',') continue
    if (depth > maxDepth || ++values > maxValues) return false
  }
  return true
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw invalidRequest('the body is not valid UTF-8')
  }
}

/** Only JSON escapes can contain lone surrogates. They cannot be encoded as UTF-8 for other programs. */
function hasLoneSurrogate(json: string): boolean {
  if (!/\\ud[89a-f]/i.test(json)) return false
  const whole = /\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}/gi
  return /\\ud[89a-f]/i.test(json.replaceAll('\\\\', '--').replace(whole, ''))
}
