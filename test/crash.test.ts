// A few kills of a real daemon under load, the parts of the drill side by side; `npm run crash` does many.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { describeViolations } from './crash/report.ts'
import { type PartName, runPart } from './crash/run.ts'
import { isWhole, seedOf, sized } from './support/system/drill-size.ts'
import { whyNoNamespace } from './support/system/namespace.ts'

const impossible = await whyNoNamespace()

async function requirePromises(t: TestContext, part: PartName, kills: number, restarts: number) {
  const seed = seedOf(t, 1)
  const engineRestarts = impossible === null ? restarts : 0
  const log = (line: string) => t.diagnostic(line)

  const outcome = await runPart(t, part, { kills, engineRestarts, seed, keep: false, log })

  const sizes = `--kills ${kills} --engine-restarts ${engineRestarts}`
  const again = `npm run crash -- --part ${part} ${sizes} --seed ${seed}`
  assert.equal(describeViolations(outcome.violations), '', again)
  assert.deepEqual([outcome.kills.length, outcome.engineRestarts.length], [kills, engineRestarts])
  for (const [what, count] of Object.entries(outcome.proofs)) assert.ok(count > 0, `no ${what}`)
}

test('a daemon that is killed at any moment under load keeps every promise', {
  concurrency: true,
}, async (t) => {
  await Promise.all([
    t.test('of its deploys', (t) => requirePromises(t, 'deploys', sized(1, 5), 0)),
    t.test('of its job runs, also if Docker restarts', (t) =>
      requirePromises(t, 'jobs', sized(1, 2), sized(0, 1)),
    ),
    // Its clients need root.
    t.test('of its datastores, also if Docker restarts', { skip: impossible ?? false }, (t) =>
      requirePromises(t, 'datastores', sized(1, 2), sized(0, 1)),
    ),
    t.test('of its disks', { skip: isWhole ? false : 'npm run test:all runs it' }, (t) =>
      requirePromises(t, 'disks', 5, 0),
    ),
    t.test('of its automatic deploys', { skip: isWhole ? false : 'npm run test:all runs it' }, (t) =>
      requirePromises(t, 'pushes', 8, 0),
    ),
  ])
})
