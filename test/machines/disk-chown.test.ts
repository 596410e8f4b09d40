// The chart of a change of the owner of a disk.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DiskChownInput, type DiskChownSnapshot, machine, toRecord } from '../../machines/disk-chown.ts'
import { instant } from '../support/machines/deploy-chart.ts'
import { type Run, runMachine, type TestEffect } from '../support/machines/machine-run.ts'

const input: DiskChownInput = {
  id: 'own-1',
  disk: 'berth-svc-1',
  serviceId: 'svc-1',
  owner: 'node',
  at: instant,
}
const changes: TestEffect = async () => ({ at: instant, uid: 1000, gid: 1001 })
const recordOf = ({ actor }: Run) => toRecord(actor.getSnapshot() as DiskChownSnapshot)
const common = { id: 'own-1', service_id: 'svc-1', disk: 'berth-svc-1', owner: 'node', created_at: instant }
const noError = { error: null, error_code: null, error_details: null }

test('a change ends with the ids of the new owner', async () => {
  const run = runMachine(machine, { changeOwner: changes }, { input })
  await run.reached('succeeded')
  assert.deepEqual(recordOf(run), {
    ...common,
    ...noError,
    uid: 1000,
    gid: 1001,
    status: 'succeeded',
    finished_at: instant,
  })
})

test('a failed change keeps the reason', async () => {
  const failure = { code: 'chown_failed', message: 'read-only', at: instant }
  const run = runMachine(machine, { changeOwner: () => Promise.reject(failure) }, { input })
  await run.reached('failed')
  const error = { error: 'read-only', error_code: 'chown_failed', error_details: null }
  assert.deepEqual(recordOf(run), {
    ...common,
    ...error,
    uid: null,
    gid: null,
    status: 'failed',
    finished_at: instant,
  })
})
