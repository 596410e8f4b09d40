// A folder of a test's own, gone after it.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What cleans up when it is over: a test, or a part of the bench. */
export interface Scope {
  after(cleanup: () => unknown): void
}

export function temporaryDirectory(t: Scope): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'berth-test-')))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
