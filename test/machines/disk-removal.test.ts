// The chart of a disk removal: through the trash or immediately.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type DiskRemovalInput,
  type DiskRemovalSnapshot,
  machine,
  toRecord,
} from '../../machines/disk-removal.ts'
import { instant } from '../support/machines/deploy-chart.ts'
import { type Run, runMachine, type TestEffect, waits } from '../support/machines/machine-run.ts'

const expiresAt = '2026-01-08T00:00:00.000Z'
const input: DiskRemovalInput = {
  id: 'dsk-1',
  disk: 'berth-svc-1',
  serviceId: 'svc-1',
  serviceName: 'shop',
  expiresAt,
  at: instant,
}
const succeeds: TestEffect = async () => ({ at: instant })
const working: Record<string, TestEffect> = {
  measureDisk: async () => ({ at: instant, isThere: true, sizeBytes: 4096 }),
  awaitExpiry: waits,
  removeDisk: succeeds,
}
const start = (effects: Record<string, TestEffect> = {}, changes: Partial<DiskRemovalInput> = {}) =>
  runMachine(machine, { ...working, ...effects }, { input: { ...input, ...changes } })
const recordOf = ({ actor }: Run) => toRecord(actor.getSnapshot() as DiskRemovalSnapshot)
const purge = { type: 'purge', at: instant, by: 'Ada' }
const restore = { type: 'restore', at: instant, by: 'Ada' }

test('a disk is measured, waits in the trash, and is removed at its expiry', async () => {
  const wakes: unknown[] = []
  const awaitExpiry: TestEffect = async ({ wakeAt }) => {
    wakes.push(wakeAt)
    return { at: instant }
  }
  const run = start({ awaitExpiry })
  await run.reached('removed')
  assert.deepEqual(run.states, ['measuring', 'trashed', 'removing', 'removed'])
  assert.deepEqual(wakes, [Date.parse(expiresAt)])
})

test('in the trash its record shows the service, the size and the expiry', async () => {
  const run = start()
  await run.reached('trashed')
  assert.deepEqual(recordOf(run), {
    id: 'dsk-1',
    service_id: 'svc-1',
    service_name: 'shop',
    disk: 'berth-svc-1',
    mount_path: null,
    status: 'trashed',
    size_bytes: 4096,
    created_at: instant,
    expires_at: expiresAt,
  })
  run.actor.stop()
})

test('a purged disk is removed immediately', async () => {
  const run = start({}, { expiresAt: null })
  await run.reached('removed')
  assert.deepEqual(run.started, ['removeDisk'])
})

test('a disk that was never created leaves nothing in the trash', async () => {
  const run = start({ measureDisk: async () => ({ at: instant, isThere: false, sizeBytes: null }) })
  await run.reached('removed')
  assert.deepEqual(run.started, ['measureDisk'])
})

for (const [where, slot] of Object.entries({ measuring: 'measureDisk', trashed: 'awaitExpiry' })) {
  test(`while ${where} it can be purged`, async () => {
    const run = start({ [slot]: waits })
    await run.reached(where)
    run.actor.send(purge)
    await run.reached('removed')
    assert.equal(run.started.at(-1), 'removeDisk')
  })
}

test('a restore ends the removal and leaves the disk in place', async () => {
  const run = start()
  await run.reached('trashed')
  run.actor.send(restore)
  assert.equal(recordOf(run).status, 'restored')
  assert.equal(run.actor.getSnapshot().status, 'done')
  assert.ok(!run.started.includes('removeDisk'))
})

test('a disk that is being removed cannot be restored', async () => {
  const run = start({ removeDisk: waits })
  await run.reached('trashed')
  run.actor.send(purge)
  const before = run.actor.getSnapshot()
  run.actor.send(restore)
  assert.equal(run.actor.getSnapshot(), before)
  run.actor.stop()
})

test('from every snapshot a fresh actor reaches the same end and repeats no finished effect', async () => {
  const effects = { ...working, awaitExpiry: succeeds }
  const whole = runMachine(machine, effects, { input })
  await whole.reached('removed')
  const alive = whole.snapshots.filter(({ status }) => status === 'active')
  assert.equal(alive.length, 3)
  for (const [index, snapshot] of alive.entries()) {
    const run = runMachine(machine, effects, { snapshot })
    await run.reached('removed')
    assert.deepEqual(recordOf(run), recordOf(whole))
    assert.deepEqual(run.started, whole.started.slice(index))
  }
})
