// A parked actor that another actor has replaced does not resume.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { catalogue } from '../../../machines/index.ts'
import { requireMayResume } from '../../../src/effects/engine/resume-check.ts'
import { Supervisor } from '../../../src/supervisor/supervisor.ts'
import { endlessEffects, restingActors } from '../../support/storage/parked-kinds.ts'
import { serviceRow, transitionOf } from '../../support/storage/store-fixtures.ts'
import { instant as at, silentLogger, temporaryStorage } from '../../support/supervisor/supervision.ts'

const resting = restingActors()
const watchful = ['queued', 'live', 'draining']

async function start(t: TestContext, kind: string, state: string) {
  const storage = await temporaryStorage(t)
  await storage.services.create(serviceRow())
  const { id, transition } = resting.find((actor) => actor.kind === kind && actor.state === state)!
  await storage.actors.create(transition)
  await storage.actors.park(id, 'a bug', at)
  const assertCanResume: ConstructorParameters<typeof Supervisor>[0]['assertCanResume'] = (row, snapshot) =>
    requireMayResume(storage, row, snapshot)
  const supervisor = new Supervisor({ storage, catalogue, logger: silentLogger, assertCanResume })
  supervisor.provide(endlessEffects())
  t.after(() => supervisor.stop(1000))
  return { storage, supervisor, id }
}

for (const { state } of resting.filter(({ kind }) => kind === 'deploy')) {
  const isWatchful = watchful.includes(state)
  test(`a deploy parked in ${state} ${isWatchful ? 'resumes' : 'waits'} while another runs`, async (t) => {
    const { storage, supervisor, id } = await start(t, 'deploy', state)
    await storage.actors.create(transitionOf({ id: 'dep-2' }, { status: 'running' }))
    const retried = supervisor.retry(id)
    if (isWatchful) await retried
    else await assert.rejects(retried, { code: 'conflict', message: /dep-2 is running/ })
    assert.equal(storage.actors.parkedOf(id) === null, isWatchful)
  })
}

test('a deploy does not resume once a newer one is live, and can be discarded', async (t) => {
  const { storage, supervisor, id } = await start(t, 'deploy', 'running.building')
  await storage.services.update('svc-1', (row) => ({ ...row, live_deploy_id: 'dep-2' }))
  await assert.rejects(supervisor.retry(id), { code: 'conflict' })
  assert.equal((await supervisor.discard(id)).status, 'failed')
  assert.equal(storage.services.get('svc-1')?.live_deploy_id, 'dep-2')
})

test('a certificate does not resume while its host has another one', async (t) => {
  const { storage, supervisor, id } = await start(t, 'certificate', 'waiting')
  const other = transitionOf({ id: 'crt-2', kind: 'certificate' }, { status: 'valid' })
  await storage.actors.create({ ...other, record: { ...other.record, host: 'shop.example.com' } })
  await assert.rejects(supervisor.retry(id), { code: 'conflict' })
})

test('a scheduled run does not resume while another run is active, a manual run does', async (t) => {
  const { storage, supervisor, id } = await start(t, 'job-run', 'running.starting')
  const other = transitionOf({ id: 'job-2', kind: 'job-run' }, { status: 'running' })
  await storage.actors.create({ ...other, record: { ...other.record, overlap: null } })
  const scheduled = transitionOf({ id: 'job-3', kind: 'job-run' }, { status: 'running' })
  await storage.actors.create({ ...scheduled, record: { ...scheduled.record, overlap: 'skip' } })
  await assert.rejects(supervisor.retry(id), { code: 'conflict', message: /job-3 is running/ })
  await storage.actors.park('job-3', 'a bug', at)
  await supervisor.retry(id)
  assert.equal(storage.actors.parkedOf(id), null)
})
