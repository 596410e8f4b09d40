// A commit that never completes, because the disk hangs or another process holds the lock. The daemon serves
// reads, exits after its deadline with a message, and has everything it acknowledged after a restart.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  type CreateRequest,
  createServices,
  requireAcknowledged,
} from '../support/daemon/acknowledged-services.ts'
import { startDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import { finishedDeploy, pageApp, until } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'
import { holdWriteLock } from '../support/storage/write-lock-holder.ts'
import { traceCalls, whyNoTracing } from '../support/system/strace.ts'

const impossible = await whyNoTracing()

/** Blocks every commit until the returned function is called. */
type Silence = (t: TestContext, daemon: TestDaemon) => Promise<() => Promise<void>>

const hangingDisk: Silence = async (t, { pid, dataDir }) => {
  const path = join(dataDir, 'store/data.mdb')
  return (await traceCalls(t, { pid, path, call: 'fdatasync', fault: 'delay_enter=600s' })).end
}
const heldStore: Silence = async (t, { dataDir }) => (await holdWriteLock(t, dataDir)).release

async function outlive(t: TestContext, silence: Silence): Promise<void> {
  const daemon = await startDaemon(t)
  const { api } = daemon
  const service = await createService(t, api, await pageApp('page', 'RUN sleep 3'), { deploy: false })
  const deploy = await service.request()
  await until('its build', async () => (await api.get(`/deploys/${deploy.id}`)).phase === 'building')
  const requests: CreateRequest[] = await createServices(api, 3)

  const release = await silence(t, daemon)
  const waiting = createServices(api, 5)
  try {
    assert.equal((await fetch(`${api.url}/healthz`)).status, 200)
    assert.equal((await api.call('GET', '/services')).status, 200, 'what is read does not wait')
    await until('its last words', async () => daemon.log.some((line) => line.includes('"fatal"')))
  } finally {
    // A call that is held in the kernel keeps a killed process alive.
    await release()
  }

  assert.equal(await daemon.ended(), 'SIGKILL')
  const words = 'the store did not finish a commit within 10s; berthd exits, and continues from disk'
  assert.ok(daemon.log.findLast((line) => line.includes('"fatal"'))!.includes(words))
  requests.push(...(await waiting))
  assert.deepEqual(
    requests.map(({ response: answer }) => answer?.status ?? 'none'),
    [...Array(3).fill(201), ...Array(5).fill('none')],
  )
  await daemon.start()
  await requireAcknowledged(daemon.api, requests, false)
  await requireAcknowledged(daemon.api, await createServices(daemon.api, 2), true)
  const { status, error } = await finishedDeploy(daemon.api, deploy.id)
  assert.deepEqual([status, error], ['live', null])
}

test('a commit that never completes ends the daemon, which returns with all acknowledged data', {
  concurrency: 2,
}, async (t) => {
  await Promise.all([
    t.test('on a disk that hangs', impossible === null ? {} : { skip: impossible }, (t) =>
      outlive(t, hangingDisk),
    ),
    t.test('in a store that another process holds', (t) => outlive(t, heldStore)),
  ])
})
