// Some weeks of the drill; `npm run soak -- --years 1` runs a year.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryDirectory } from '../support/system/directory.ts'
import { allowedGrowth, growthOf, runYears } from './years.ts'

test('what the server keeps of deploys and runs stops growing', async (t) => {
  const log = (line: string) => t.diagnostic(line)
  const samples = await runYears({ directory: temporaryDirectory(t), years: 0.05, log })

  assert.ok(growthOf(samples, 'directoryBytes') < allowedGrowth)
  assert.ok(growthOf(samples, 'descriptors') < allowedGrowth)
})
