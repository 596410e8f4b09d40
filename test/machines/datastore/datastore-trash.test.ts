// The trash of a datastore: a final backup, a wait, and either the restore or the removal.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { machine, migrate } from '../../../machines/datastore/datastore.ts'
import {
  fails,
  once,
  path,
  recordOf,
  start,
  turn,
  waits,
  working,
} from '../../support/machines/datastore-chart.ts'
import { instant } from '../../support/machines/deploy-chart.ts'
import { type Run, runMachine, type TestEffect } from '../../support/machines/machine-run.ts'

const expiresAt = '2026-01-08T00:00:00.000Z'
const deletion = { type: 'delete', at: instant, by: 'Ada', keep: { expiresAt, backupId: 'bak-1' } }
const discard = { ...deletion, keep: null }
const reclaim = { type: 'reclaim', at: instant, by: 'Ada', name: 'former' }

async function deleted(effects: Record<string, TestEffect> = {}, from = 'available'): Promise<Run> {
  const run = start(effects)
  await run.reached(path(from))
  run.actor.send(deletion)
  return run
}

test('an available datastore is backed up, stopped, and kept until its time is over', async () => {
  const wakes: unknown[] = []
  const awaitExpiry: TestEffect = async ({ wakeAt }) => {
    wakes.push(wakeAt)
    return { at: instant }
  }
  const run = await deleted({ awaitExpiry })
  await run.reached('deleted')
  assert.deepEqual(run.states.slice(-5), ['saving', 'trashing', 'trashed', 'deleting', 'deleted'])
  assert.deepEqual(wakes, [Date.parse(expiresAt)])
})

test('in the trash its record shows the expiry, the size, and the backup', async () => {
  const saving = await deleted({ saveDatastore: waits })
  assert.deepEqual([recordOf(saving).status, recordOf(saving).phase], ['deleting', 'saving'])
  saving.actor.stop()
  const run = await deleted()
  await run.reached('trashed')
  const { status, phase, trash } = recordOf(run)
  assert.deepEqual([status, phase], ['trashed', null])
  assert.deepEqual(trash, {
    deleted_at: instant,
    expires_at: expiresAt,
    backup_id: 'bak-1',
    size_bytes: 4096,
    trouble: null,
  })
  run.actor.stop()
})

test('a failed final backup does not prevent the deletion, and is not shown', async () => {
  const run = await deleted({ saveDatastore: async () => ({ at: instant, isGood: false }) })
  await run.reached('trashed')
  assert.equal(recordOf(run).trash?.backup_id, null)
  run.actor.stop()
})

for (const [where, effects] of Object.entries({
  failed: { awaitAnswer: once(working.awaitAnswer!, fails), keepDatastore: waits },
  'starting.stopping': { stopDatastore: waits },
})) {
  test(`a datastore that was available and is ${where} goes to the trash without a backup`, async () => {
    const run = start(effects)
    await run.reached(path('available'))
    run.actor.send({ type: 'restart', at: instant, by: 'Ada' })
    await run.reached(path(where))
    run.actor.send(deletion)
    await run.reached('trashed')
    assert.ok(!run.started.includes('saveDatastore'))
    assert.equal(recordOf(run).trash?.backup_id, null)
    run.actor.stop()
  })
}

test('a datastore that was never available has no data, and is removed immediately', async () => {
  const run = await deleted({ startDatastore: fails }, 'failed')
  await run.reached('deleted')
  assert.ok(!run.states.includes('trashing'))
})

test('a datastore without a volume is removed immediately', async () => {
  const run = await deleted({
    trashDatastore: async () => ({ at: instant, hasVolume: false, sizeBytes: null }),
  })
  await run.reached('deleted')
  assert.ok(!run.states.includes('trashed'))
})

for (const [where, slot] of Object.entries({
  saving: 'saveDatastore',
  trashing: 'trashDatastore',
  trashed: '',
})) {
  test(`while ${where} a second deletion changes nothing, unless it discards the data`, async () => {
    const requests: unknown[] = []
    const removeDatastore: TestEffect = async (input) => {
      requests.push(input)
      return { at: instant }
    }
    const run = await deleted({ ...(slot ? { [slot]: waits } : {}), removeDatastore })
    await run.reached(where)
    const before = run.actor.getSnapshot()
    run.actor.send(deletion)
    assert.equal(run.actor.getSnapshot(), before)
    run.actor.send(discard)
    assert.equal(recordOf(run).trash, null)
    await run.reached('deleted')
    assert.deepEqual(requests, [{ id: 'dst-1', backupId: 'bak-1' }])
  })
}

test('after a restore the datastore starts on its volume, without its earlier failures', async () => {
  const starts: unknown[] = []
  const startDatastore: TestEffect = async ({ isNew, isAfresh }) => {
    starts.push([isNew, isAfresh])
    return { at: instant, hostPort: 25_001, notice: null }
  }
  const run = await deleted({ startDatastore })
  await run.reached('trashed')
  run.states.length = 0
  run.actor.send(reclaim)
  assert.deepEqual([recordOf(run).status, recordOf(run).trash === null], ['restarting', false])
  await run.reached(path('available'))
  const { name, status, error, trash } = recordOf(run)
  assert.deepEqual([name, status, error, trash], ['former', 'available', null, null])
  assert.deepEqual(starts, [
    [true, false],
    [false, false],
  ])
  run.actor.stop()
})

test('a datastore whose name is in use stays in the trash, with the reason', async () => {
  const run = await deleted({ reclaimDatastore: once(fails, working.reclaimDatastore!) })
  await run.reached('trashed')
  run.actor.send(reclaim)
  while (recordOf(run).trash?.trouble === null) await turn()
  assert.equal(recordOf(run).status, 'trashed')
  assert.deepEqual(recordOf(run).trash?.trouble, { code: 'datastore_failed', message: 'no space left' })
  assert.equal(recordOf(run).name, 'shop-db')
  run.actor.send({ ...reclaim, name: 'other' })
  while (recordOf(run).status !== 'available') await turn()
  assert.equal(recordOf(run).name, 'other')
  run.actor.stop()
})

test('from every snapshot of its way into the trash and back a fresh actor continues', async () => {
  const whole = await deleted()
  await whole.reached('trashed')
  whole.actor.stop()
  const way = whole.snapshots.filter((snapshot) => /saving|trash/.test(JSON.stringify(snapshot)))
  assert.ok(way.length >= 3)
  for (const snapshot of whole.snapshots.slice(-3)) {
    const again = runMachine(machine, working, { snapshot })
    await again.reached('trashed')
    again.actor.send(reclaim)
    while (recordOf(again).status !== 'available') await turn()
    again.actor.stop()
    for (const back of again.snapshots.filter((one) => JSON.stringify(one).includes('reclaiming'))) {
      const last = runMachine(machine, working, { snapshot: back })
      while (recordOf(last).status !== 'available') await turn()
      assert.equal(recordOf(last).name, 'former')
      last.actor.stop()
    }
  }
})

test('a snapshot from before the trash is a datastore that is not deleted', async () => {
  const run = start()
  await run.reached(path('available'))
  run.actor.stop()
  const { trash, ...context } = (run.snapshots.at(-1) as unknown as { context: Record<string, unknown> })
    .context
  const old = { ...run.snapshots.at(-1)!, context }
  const again = runMachine(machine, working, { snapshot: migrate(old, 1) as never })
  assert.deepEqual([trash, recordOf(again).trash], [null, null])
  again.actor.send(deletion)
  await again.reached('trashed')
  again.actor.stop()
})
