// A temporary folder that is removed after the test.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Runs cleanups when it ends: a test, or a part of the benchmark. */
export interface Scope {
  after(cleanup: () => unknown): void
}

export function temporaryDirectory(t: Scope): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'berth-test-')))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
