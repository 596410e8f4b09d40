// What a whole file of tests makes, and removes when all of them are over: the newest first.
import { after } from 'node:test'
import type { Scope } from './directory.ts'

/** Made at the top of a test file. */
export function fileScope(): Scope {
  const cleanups: (() => unknown)[] = []
  after(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup()
  })
  return { after: (cleanup) => void cleanups.push(cleanup) }
}
