// Cleanups of a whole test file, run in reverse order after its last test.
import { after } from 'node:test'
import type { Scope } from '../system/directory.ts'

/** To be called at the top of a test file. */
export function fileScope(): Scope {
  const cleanups: (() => unknown)[] = []
  after(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup()
  })
  return { after: (cleanup) => void cleanups.push(cleanup) }
}
