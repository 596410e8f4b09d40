// Reads JSON of strangers. A small text is parsed at once, because a reader would cost more.
import { parseJson } from './json-text.ts'
import { type ReadOptions, read } from './read.ts'

export { isSmallJson } from './json-text.ts'

/** A text of this size is parsed within a millisecond, whatever it is. */
export const maxInlineBytes = 16 * 1024

/** Throws what `parseJson` and `read` throw. */
export function readJson(bytes: Buffer, options: ReadOptions): unknown | Promise<unknown> {
  return bytes.length <= maxInlineBytes ? parseJson(bytes) : read('json', bytes, options)
}
