// The chart of a restore: everything can be undone before the switch, and every restore reports its end.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  machine,
  type RestoreInput,
  type RestoreSnapshot,
  toRecord,
  toService,
} from '../../machines/restore.ts'
import { instant } from '../support/machines/deploy-chart.ts'
import { pathOf, type Run, runMachine, type TestEffect, waits } from '../support/machines/machine-run.ts'

const input: RestoreInput = {
  id: 'rst-1',
  datastoreId: 'dst-1',
  datastoreName: 'shop-db',
  kind: 'postgres',
  backupId: 'bak-1',
  sizeBytes: 12,
  at: instant,
}
const succeeds: TestEffect = async () => ({ at: instant })
const fails: TestEffect = () => Promise.reject({ code: 'restore_failed', message: 'it is cut', at: instant })
const slots = ['checkFile', 'loadData', 'switchData', 'tidyRestore', 'undoRestore']
const working = Object.fromEntries(slots.map((slot) => [slot, succeeds]))

const recordOf = ({ actor }: Run) => toRecord(actor.getSnapshot() as RestoreSnapshot)
const stateOf = ({ actor }: Run) => pathOf(actor.getSnapshot().value)
const endOf = (run: Run) => {
  const { status, error, error_code, finished_at } = recordOf(run)
  return [status, error, error_code, finished_at]
}
const start = (effects: Record<string, TestEffect> = {}) =>
  runMachine(machine, { ...working, ...effects }, { input })
const cancel = { type: 'cancel', at: instant, by: 'Ada' }

test('a restore is checked, loaded, switched, and cleaned up', async () => {
  const run = start()
  await run.reached('done')
  assert.deepEqual(run.states, ['checking', 'loading', 'switching', 'tidying', 'done'])
  assert.deepEqual(recordOf(run), {
    id: 'rst-1',
    service_id: 'dst-1',
    datastore_id: 'dst-1',
    datastore: 'shop-db',
    kind: 'postgres',
    service: null,
    disk: null,
    new_disk: null,
    backup_id: 'bak-1',
    status: 'done',
    phase: null,
    error: null,
    error_code: null,
    error_details: null,
    size_bytes: 12,
    created_at: instant,
    finished_at: instant,
  })
})

for (const slot of ['checkFile', 'loadData', 'switchData', 'tidyRestore']) {
  test(`while ${slot} is running its status is running`, async () => {
    const run = start({ [slot]: waits })
    while (run.started.at(-1) !== slot) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(recordOf(run).status, 'running')
    run.actor.stop()
  })
}

for (const slot of ['checkFile', 'loadData', 'switchData']) {
  test(`a restore whose ${slot} fails is undone before it is failed`, async () => {
    let undone = () => {}
    const undoRestore: TestEffect = () =>
      new Promise((resolve) => {
        undone = () => resolve({ at: instant })
      })
    const run = start({ [slot]: fails, undoRestore })
    await run.reached('undoing')
    assert.deepEqual(endOf(run), ['undoing', 'it is cut', 'restore_failed', null])
    undone()
    await run.reached('failed')
    assert.deepEqual(endOf(run), ['failed', 'it is cut', 'restore_failed', instant])
  })
}

for (const [code, shown] of [
  ['insufficient_storage', 'insufficient_storage'],
  ['backup_failed', 'damaged_file'],
  ['ENOENT', 'internal_error'],
] as const) {
  test(`a restore that ends with ${code} has the error code ${shown}`, async () => {
    const run = start({ checkFile: () => Promise.reject({ code, message: 'no', at: instant }) })
    await run.reached('failed')
    assert.equal(recordOf(run).error_code, shown)
  })
}

for (const [slot, state] of [
  ['checkFile', 'checking'],
  ['loadData', 'loading'],
] as const) {
  test(`a restore canceled while ${state} is undone, and names the requester`, async () => {
    const run = start({ [slot]: waits })
    await run.reached(state)
    run.actor.send(cancel)
    await run.reached('canceled')
    assert.deepEqual(endOf(run), ['canceled', 'canceled by Ada', 'canceled', instant])
  })
}

test('from every snapshot a fresh actor reaches the same end', async () => {
  for (const [effects, end] of [
    [{}, 'done'],
    [{ loadData: fails }, 'failed'],
  ] as const) {
    const whole = start(effects)
    await whole.reached(end)
    for (const snapshot of whole.snapshots.filter(({ status }) => status === 'active')) {
      const run = runMachine(machine, { ...working, ...effects }, { snapshot })
      await run.reached(end)
      assert.deepEqual([stateOf(run), recordOf(run)], [end, recordOf(whole)])
    }
  }
})

test('the service gets the new volume with the transition to the switch, and with no other', async () => {
  const disk = { disk: 'berth-svc-1', newDisk: 'berth-rst-1', serviceId: 'svc-1', serviceName: 'shop' }
  const ofDisk: RestoreInput = {
    id: 'rst-1',
    kind: 'disk',
    ...disk,
    backupId: null,
    sizeBytes: 1,
    at: instant,
  }
  const patches: [unknown, unknown][] = []
  let before: RestoreSnapshot | null = null
  const run = runMachine(machine, working, { input: ofDisk })
  run.actor.subscribe((snapshot) => {
    patches.push([snapshot.value, toService(snapshot as RestoreSnapshot, before)])
    before = snapshot as RestoreSnapshot
  })
  await run.reached('done')
  assert.deepEqual(
    patches.filter(([, patch]) => patch !== null),
    [['switching', { disk_volume: 'berth-rst-1' }]],
  )
})
