// A few kills of a real daemon and one Docker restart while datastores are written to; `npm run
// crash` runs many.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seedOf, sized } from '../support/system/drill-size.ts'
import { runDatastoreCrash, whyNoNamespace } from './datastores/run.ts'
import { describeViolations } from './report.ts'

const [kills, engineRestarts] = sized([1, 0], [2, 1])
const impossible = await whyNoNamespace()

test('every acknowledged row survives kills of the daemon and a restart of Docker', {
  skip: impossible ?? false,
}, async (t) => {
  const seed = seedOf(t, 1)

  const log = (line: string) => t.diagnostic(line)
  const requested = { kills, engineRestarts, seed, keep: false, logsToStderr: false, log }
  const outcome = await runDatastoreCrash(t, requested)

  const sizes = `--kills ${kills} --engine-restarts ${engineRestarts}`
  const again = `npm run crash -- --part datastores ${sizes} --seed ${seed}`
  assert.equal(describeViolations(outcome.violations), '', again)
  assert.deepEqual([outcome.kills, outcome.engineRestarts.length], [kills, engineRestarts])
  for (const { kind, way, acknowledged } of outcome.writers)
    assert.ok(acknowledged > 0, `${kind} by ${way} acknowledged nothing`)
})
