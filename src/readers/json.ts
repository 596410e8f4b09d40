// Reads JSON of strangers. A small text is parsed at once, because a reader would cost more.
import { parseAnswer, parseBody } from './json-text.ts'
import { type ReadOptions, read } from './read.ts'

export { isSmallJson } from './json-text.ts'

/** A text of this size is parsed within a millisecond, whatever it is. */
export const maxInlineBytes = 16 * 1024

/** The body of a request. Throws what `parseBody` and `read` throw. */
export function readBody(bytes: Buffer, options: ReadOptions): unknown | Promise<unknown> {
  return bytes.length <= maxInlineBytes ? parseBody(bytes) : read('parseBody', bytes, options)
}

/** The answer of a server. Throws what `parseAnswer` and `read` throw. */
export function readAnswer(bytes: Buffer, options: ReadOptions): unknown | Promise<unknown> {
  return bytes.length <= maxInlineBytes ? parseAnswer(bytes) : read('parseAnswer', bytes, options)
}
