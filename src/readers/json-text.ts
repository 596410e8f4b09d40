// JSON that a stranger sent: strictly UTF-8, and small enough to be copied and validated on the event loop.
import { invalidRequest } from '../errors.ts'

/** A page of a git provider has 100 repositories of up to 200 values. */
const maxValues = 50_000
/** Copying deeper values between processes would exceed the stack. */
const maxDepth = 200

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Throws `invalid_request`. Its message never contains a value, because that may be a secret. */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  if (hasLoneSurrogate(text)) {
    throw invalidRequest(
      'the body has an unpaired surrogate: one of \\ud800 to \\udfff without its counterpart',
    )
  }
  const value = parse(text)
  if (isSmall(value)) return value
  throw invalidRequest(`the body has more than ${maxValues} values, or more than ${maxDepth} in each other`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidRequest('the body is not valid JSON')
  }
}

function isSmall(value: unknown): boolean {
  let level = [value]
  for (let depth = 0, count = 0; level.length > 0; depth++) {
    count += level.length
    if (count > maxValues || depth > maxDepth) return false
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  }
  return true
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
