// A folder of a test's own, gone after it.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

export function temporaryDirectory(t: TestContext): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'berth-test-')))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
