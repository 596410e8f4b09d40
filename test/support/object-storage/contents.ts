// Content for object stores, and what a store then has.
import { createHash } from 'node:crypto'
import type { ObjectStore } from '../../../src/object-storage/object-store.ts'

export const never = new AbortController().signal

/** That many MiB, each of another byte. */
export async function* mebibytes(count: number): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < count; index++) yield Buffer.alloc(1024 * 1024, index)
}

export async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

export async function* broken(count: number, reason: Error): AsyncGenerator<Uint8Array> {
  yield* mebibytes(count)
  throw reason
}

export async function readBack(store: ObjectStore, name: string) {
  const hash = createHash('sha256')
  let sizeBytes = 0
  for await (const piece of (await store.get(name, never)).content) {
    hash.update(piece)
    sizeBytes += piece.length
  }
  return { sizeBytes, sha256: hash.digest('hex') }
}

export async function namesIn(store: ObjectStore, prefix = ''): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of store.list(prefix, never)) names.push(name)
  return names.sort()
}
