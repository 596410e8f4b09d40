// The chart of a backup: good only after it was read back, retried only if scheduled, removed
// only on request.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BackupInput, type BackupSnapshot, machine, toRecord } from '../../machines/backup.ts'
import { instant } from '../support/machines/deploy-chart.ts'
import { pathOf, type Run, runMachine, type TestEffect, waits } from '../support/machines/machine-run.ts'

const input: BackupInput = {
  id: 'bak-1',
  datastoreId: 'dst-1',
  datastoreName: 'shop-db',
  kind: 'postgres',
  version: '17',
  trigger: 'manual',
  at: instant,
}
const scheduled: BackupInput = { ...input, trigger: 'schedule' }

const succeeds: TestEffect = async () => ({ at: instant })
const dumps: TestEffect = async () => ({ at: instant, sizeBytes: 12, sha256: 'ab' })
const fails: TestEffect = () =>
  Promise.reject({ code: 'backup_failed', message: 'no space left', at: instant })
const working: Record<string, TestEffect> = {
  dumpDatastore: dumps,
  checkBackup: succeeds,
  discardDump: succeeds,
  awaitRetry: waits,
  pruneBackups: succeeds,
  removeBackup: succeeds,
}

const ofDisk: BackupInput = {
  id: 'bak-2',
  kind: 'disk',
  disk: 'berth-svc-1',
  serviceId: 'svc-1',
  serviceName: 'shop',
  trigger: 'manual',
  at: instant,
}

const recordOf = ({ actor }: Run) => toRecord(actor.getSnapshot() as BackupSnapshot)
const stateOf = ({ actor }: Run) => pathOf(actor.getSnapshot().value)
const turn = () => new Promise((resolve) => setImmediate(resolve))
const start = (effects: Record<string, TestEffect> = {}, from: BackupInput = input) =>
  runMachine(machine, { ...working, ...effects }, { input: from })
const remove = { type: 'delete', at: instant, by: 'Ada' }

test('a backup is dumped, verified, and stored', async () => {
  const requests: unknown[] = []
  const checkBackup: TestEffect = async ({ sizeBytes, sha256 }) => {
    requests.push([sizeBytes, sha256])
    return { at: instant }
  }
  const run = start({ checkBackup })
  await run.reached('good.kept')
  assert.deepEqual(run.states, ['running.dumping', 'running.checking', 'good.pruning', 'good.kept'])
  assert.deepEqual(requests, [[12, 'ab']])
  assert.deepEqual(recordOf(run), {
    id: 'bak-1',
    service_id: 'dst-1',
    datastore_id: 'dst-1',
    datastore: 'shop-db',
    kind: 'postgres',
    service: null,
    disk: null,
    version: '17',
    place: 'folder',
    trigger: 'manual',
    status: 'good',
    phase: null,
    error: null,
    error_code: null,
    error_details: null,
    attempts: 1,
    next_attempt_at: null,
    size_bytes: 12,
    sha256: 'ab',
    created_at: instant,
    finished_at: instant,
  })
})

for (const slot of ['dumpDatastore', 'checkBackup']) {
  test(`a manual backup whose ${slot} fails leaves no file, with the reason`, async () => {
    const run = start({ [slot]: fails })
    await run.reached('failed')
    assert.ok(run.started.includes('discardDump'))
    const { status, error, phase, finished_at } = recordOf(run)
    assert.deepEqual([status, error, phase, finished_at], ['failed', 'no space left', null, instant])
  })
}

test('a backup of a disk belongs to its service, and has the same states', async () => {
  const inputs: unknown[] = []
  const notes =
    (effect: TestEffect): TestEffect =>
    (slotInput, signal) => {
      inputs.push(slotInput)
      return effect(slotInput, signal)
    }
  const run = start({ dumpDatastore: notes(dumps), pruneBackups: notes(succeeds) }, ofDisk)
  await run.reached('good.kept')
  assert.deepEqual(run.states, ['running.dumping', 'running.checking', 'good.pruning', 'good.kept'])
  const { trigger: _, ...asked } = ofDisk
  assert.deepEqual(inputs, [asked, { id: 'bak-2', datastoreId: null }])
  const { service_id, service, disk, kind, datastore, datastore_id, version } = recordOf(run)
  assert.deepEqual(
    { service_id, service, disk, kind, datastore, datastore_id, version },
    {
      service_id: 'svc-1',
      service: 'shop',
      disk: 'berth-svc-1',
      kind: 'disk',
      datastore: null,
      datastore_id: null,
      version: null,
    },
  )
})

test('a scheduled backup is retried after increasing pauses, four times in all', async () => {
  const pauses: number[] = []
  const awaitRetry: TestEffect = async ({ wakeAt }) => {
    pauses.push((Number(wakeAt) - Date.parse(instant)) / 60_000)
    return { at: instant }
  }
  const run = start({ dumpDatastore: fails, awaitRetry }, scheduled)
  await run.reached('failed')
  assert.deepEqual([pauses, recordOf(run).attempts], [[1, 4, 16], 4])
})

test('a scheduled backup that waits for its next try shows the reason and the time', async () => {
  let tries = 0
  const dumpDatastore: TestEffect = (effectInput, signal) =>
    (++tries === 1 ? fails : dumps)(effectInput, signal)
  let wake = () => {}
  const awaitRetry: TestEffect = () =>
    new Promise((resolve) => {
      wake = () => resolve({ at: instant })
    })
  const run = start({ dumpDatastore, awaitRetry }, scheduled)
  await run.reached('running.waiting')
  const { status, phase, error, next_attempt_at } = recordOf(run)
  assert.deepEqual(
    [status, phase, error, next_attempt_at],
    ['running', 'waiting', 'no space left', '2026-01-01T00:01:00.000Z'],
  )
  wake()
  await run.reached('good.kept')
  assert.deepEqual([recordOf(run).error, recordOf(run).next_attempt_at], [null, null])
})

for (const [state, effects] of Object.entries({
  'running.dumping': { dumpDatastore: waits },
  'running.checking': { checkBackup: waits },
  'running.discarding': { dumpDatastore: fails, discardDump: waits },
  'good.pruning': { pruneBackups: waits },
  'good.kept': {},
  failed: { dumpDatastore: fails },
})) {
  test(`a backup deleted while ${state} is removed with its file`, async () => {
    const run = start(effects)
    await run.reached(state)
    run.actor.send(remove)
    await run.reached('deleted')
    assert.equal(run.started.at(-1), 'removeBackup')
    assert.equal(run.actor.getSnapshot().status, 'done')
  })
}

test('from every snapshot a fresh actor reaches the same end', async () => {
  for (const effects of [{}, { dumpDatastore: fails }, { checkBackup: fails }]) {
    const whole = start(effects)
    await turn()
    await turn()
    await turn()
    const end = stateOf(whole)
    assert.ok(['good.kept', 'failed'].includes(end), end)
    for (const snapshot of whole.snapshots) {
      const run = runMachine(machine, { ...working, ...effects }, { snapshot })
      await run.reached(end)
      assert.deepEqual(recordOf(run), recordOf(whole))
    }
  }
})
