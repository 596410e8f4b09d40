// Some weeks of the drill; `npm run soak -- --years 1` runs a year.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryDirectory } from '../support/system/directory.ts'
import { growths, runYears } from './years.ts'

test('what the server keeps of deploys, runs, certificates and backups stops growing', async (t) => {
  const log = (line: string) => t.diagnostic(line)
  const outcome = await runYears({ directory: temporaryDirectory(t), years: 0.05, log })

  deepEqual(growths(outcome), [])
})
