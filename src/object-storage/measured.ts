// Counts and hashes content on its way.
import { createHash } from 'node:crypto'
import type { ObjectFacts } from './object-store.ts'

export function measured(content: AsyncIterable<Uint8Array>) {
  const hash = createHash('sha256')
  let sizeBytes = 0
  async function* pass() {
    for await (const piece of content) {
      hash.update(piece)
      sizeBytes += piece.length
      yield piece
    }
  }
  /** `facts` is called once, at the end of the content. */
  return { content: pass(), facts: (): ObjectFacts => ({ sizeBytes, sha256: hash.digest('hex') }) }
}
