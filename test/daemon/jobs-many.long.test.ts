// Two hundred concurrent runs on a real engine: never more at a time than the host allows, and
// each one complete.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  clearedJob,
  createWorker,
  finishedJob,
  jobContainers,
  openDocker,
  output,
  requestJob,
} from '../support/daemon/jobs.ts'
import { daemonSuite } from '../support/daemon/suite.ts'
import { type ContainerEvent, watchContainers } from '../support/docker/container-events.ts'

const docker = await openDocker()
const suite = daemonSuite({ args: ['--job-concurrency=4'] })
const count = 200
/** The others are canceled while pending: on a small machine each container takes half a second. */
const runCount = 60
const lines = 50
/** Far less than a leak of each log or container would use. */
const growthMb = 150

function memoryMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}

/** The highest number of containers that had been created and had not ended. */
function maxConcurrent(events: ContainerEvent[]): number {
  let now = 0
  let most = 0
  for (const { action } of events.toSorted((a, b) => a.atMs - b.atMs)) {
    if (action === 'create') now += 1
    if (action === 'die') now -= 1
    most = Math.max(most, now)
  }
  return most
}

test('of two hundred concurrent runs four run at a time, and each completes without the rest', async (t) => {
  const { api, daemon } = suite
  const [many, other] = await Promise.all([createWorker(t, api), createWorker(t, api)])
  const events = await watchContainers(t, docker, daemon.prefix)
  const before = memoryMb(daemon.pid)
  const beganAt = performance.now()
  const command = `seq 1 ${lines}; echo $BERTH_JOB_ID`
  const asking = Array.from({ length: count }, () => requestJob(api, many.name, { command }))
  const ids = (await Promise.all(asking)).map(({ id }) => id)
  const waiting = ids.splice(runCount)
  // All at once: the runs before them must not end first.
  const canceled = await Promise.all(waiting.map((id) => api.post(`/jobs/${id}/cancel`)))
  for (const { status } of canceled) assert.equal(status, 'canceled')
  const askedAtMs = Date.now()
  const { id: lone } = await requestJob(api, other.name, { command })
  await finishedJob(api, lone)
  for (const id of [...ids, ...waiting, lone]) await clearedJob(api, id)
  t.diagnostic(`all are over after ${((performance.now() - beganAt) / 1000).toFixed(1)} s`)
  const grown = memoryMb(daemon.pid) - before
  t.diagnostic(`the daemon has ${before.toFixed(0)} MB, and ${grown.toFixed(0)} MB more at the end`)

  const createEvents = events.all.filter(({ action }) => action === 'create')
  const loneAtMs = createEvents.find(({ id }) => id === lone)!.atMs
  const ahead = createEvents.filter(({ atMs }) => atMs > askedAtMs && atMs < loneAtMs)
  assert.ok(ahead.length <= 12, `${ahead.length} runs came before the other service's only one`)
  const most = maxConcurrent(events.all)
  assert.ok(most > 1 && most <= 4, `${most} ran at a time`)
  assert.equal(events.all.filter(({ action }) => action === 'create').length, runCount + 1)
  const counted = Array.from({ length: lines }, (_, index) => String(index + 1))
  for (const id of ids) {
    assert.equal((await api.get(`/jobs/${id}`)).status, 'succeeded')
    assert.deepEqual(await output(api, id), [...counted, id])
  }
  for (const id of waiting) assert.deepEqual(events.of(id), [])
  assert.deepEqual(await jobContainers(docker, daemon), [])
  assert.ok(grown < growthMb, `${grown} MB`)
})
