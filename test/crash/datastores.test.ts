// A few kills of a real daemon and one Docker restart while datastores are written to; `npm run
// crash` runs many.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { runDatastoreCrash, whyNoNamespace } from './datastores/run.ts'
import { describeViolations } from './report.ts'

const impossible = await whyNoNamespace()

test('every acknowledged row survives kills of the daemon and a restart of Docker', {
  skip: impossible ?? false,
}, async (t) => {
  const seed = randomInt(1_000_000)
  t.diagnostic(`seed ${seed}`)

  const log = (line: string) => t.diagnostic(line)
  const requested = { kills: 2, engineRestarts: 1, seed, keep: false, logsToStderr: false, log }
  const outcome = await runDatastoreCrash(t, requested)

  const again = `npm run crash -- --part datastores --kills 2 --engine-restarts 1 --seed ${seed}`
  assert.equal(describeViolations(outcome.violations), '', again)
  assert.deepEqual([outcome.kills, outcome.engineRestarts.length], [2, 1])
  for (const { kind, way, acknowledged } of outcome.writers)
    assert.ok(acknowledged > 0, `${kind} by ${way} acknowledged nothing`)
})
