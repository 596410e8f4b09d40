// The chart of a backup of the server: what is stored was read back, and a failure leaves no file.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  machine,
  type ServerBackupInput,
  type ServerBackupSnapshot,
  toRecord,
} from '../../machines/server-backup.ts'
import { instant } from '../support/machines/deploy-chart.ts'
import { type Run, runMachine, type TestEffect, waits } from '../support/machines/machine-run.ts'

const file = 'berth-20260102T030405Z.backup.age'
const input: ServerBackupInput = { id: 'sbk-1', trigger: 'manual', file, at: instant }
const facts = { sizeBytes: 4096, sha256: 'abc' }
const succeeds: TestEffect = async () => ({ at: instant })
const fails: TestEffect = () => Promise.reject({ code: 'backup_failed', message: 'no room', at: instant })
const working: Record<string, TestEffect> = {
  writeBackup: async () => ({ ...facts, keyFingerprint: 'f', data: [], at: instant }),
  checkBackup: succeeds,
  discardFile: succeeds,
  pruneBackups: succeeds,
  removeFile: succeeds,
}
const start = (effects: Record<string, TestEffect> = {}) =>
  runMachine(machine, { ...working, ...effects }, { input })
const recordOf = ({ actor }: Run) => toRecord(actor.getSnapshot() as ServerBackupSnapshot)
const remove = { type: 'delete', at: instant, by: 'Ada' }

test('a backup is written, read back, and kept until it is deleted', async () => {
  const checked: unknown[] = []
  const checkBackup: TestEffect = async (given) => {
    checked.push(given)
    return { at: instant }
  }
  const run = start({ checkBackup })
  await run.reached('stored.kept')
  assert.deepEqual(checked, [{ id: 'sbk-1', file, ...facts }])
  assert.deepEqual(recordOf(run), {
    id: 'sbk-1',
    trigger: 'manual',
    status: 'stored',
    phase: null,
    error: null,
    error_code: null,
    error_details: null,
    place: 'folder',
    file,
    size_bytes: 4096,
    sha256: 'abc',
    key_fingerprint: 'f',
    data: [],
    created_at: instant,
    finished_at: instant,
  })
  run.actor.send(remove)
  await run.reached('deleted')
  assert.equal(recordOf(run).status, 'deleted')
})

for (const slot of ['writeBackup', 'checkBackup']) {
  test(`when ${slot} fails, its file is removed and the record has the reason`, async () => {
    const run = start({ [slot]: fails })
    await run.reached('failed')
    assert.equal(run.started.at(-1), 'discardFile')
    const { status, phase, error, error_code } = recordOf(run)
    assert.deepEqual([status, phase, error, error_code], ['failed', null, 'no room', 'backup_failed'])
  })
}

test('a running backup can be deleted', async () => {
  const run = start({ writeBackup: waits })
  run.actor.send(remove)
  await run.reached('deleted')
  assert.deepEqual(run.started, ['writeBackup', 'removeFile'])
})

test('from every step on, a restart reaches the same end', async () => {
  const whole = start()
  await whole.reached('stored.kept')
  for (const snapshot of whole.snapshots) {
    const again = runMachine(machine, working, { snapshot })
    await again.reached('stored.kept')
    assert.deepEqual(recordOf(again), recordOf(whole))
    again.actor.stop()
  }
})
