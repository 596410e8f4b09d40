// Runs that are ended externally on a real engine: canceled, suspended, and deleted with their service.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import type { Body } from '../support/daemon/api.ts'
import {
  clearedJob,
  createCron,
  createWorker,
  finishedJob,
  jobContainers,
  jobLog,
  openDocker,
  output,
  requestJob,
  runningContainer,
  sharedWorker,
  untilLogged,
} from '../support/daemon/jobs.ts'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { until } from '../support/daemon/service.ts'
import { daemonSuite } from '../support/daemon/suite.ts'
import { long } from '../support/system/drill-size.ts'

const docker = await openDocker()
const suite = daemonSuite()
const scope = fileScope()
const aWorker = sharedWorker(scope, suite)

/** Exits on SIGTERM with its own output and code. */
const polite = 'trap "echo good bye; exit 7" TERM; echo begun; while true; do sleep 0.1; done'
/** Must be killed. */
const deaf = 'trap "" TERM; echo begun; while true; do sleep 0.1; done'

test('a canceled run ends immediately, and keeps its last output and its exit code', async () => {
  const { api, daemon } = suite
  const { name } = await aWorker()
  const { id } = await requestJob(api, name, { command: polite })
  await untilLogged(api, id, 'begun')
  const canceled = await api.post(`/jobs/${id}/cancel`)
  assert.deepEqual([canceled.status, canceled.error], ['canceled', 'canceled by the server token'])
  assert.ok(canceled.finished_at)

  const run = await clearedJob(api, id)
  assert.deepEqual([run.status, run.exit_code, run.finished_at], ['canceled', 7, canceled.finished_at])
  assert.deepEqual(await output(api, id), ['begun', 'good bye'])
  assert.equal((await jobLog(api, id)).at(-1)?.line, 'canceled by the server token')
  assert.deepEqual(await jobContainers(docker, daemon, id), [])
})

long('a suspended service has no active run when the response is sent', async (t) => {
  const { api } = suite
  const cron = await createCron(t, api, { start_command: polite, overlap: 'queue' })
  const [running, waiting] = await runningAndWaiting(cron.name)
  await api.post(`/services/${cron.name}/suspend`)

  const runs: Body[] = await api.get(`/services/${cron.name}/jobs`)
  assert.deepEqual(
    runs.map(({ id, status, error }) => [id, status, error]),
    [waiting, running].map((id) => [id, 'canceled', 'canceled by the suspension of its service']),
  )
  assert.equal((await clearedJob(api, running)).exit_code, 7)
  await clearedJob(api, waiting)
  const refused = await api.call('POST', `/services/${cron.name}/jobs`)
  assert.equal(refused.status, 409)
  await until('their containers to be gone', async () =>
    (await jobContainers(docker, suite.daemon)).every(({ Names }) => !Names[0]!.includes(cron.name)),
  )
  await api.post(`/services/${cron.name}/resume`)
  const again = await requestJob(api, cron.name, {})
  await untilLogged(api, again.id, 'begun')
  await api.post(`/jobs/${again.id}/cancel`)
  await clearedJob(api, again.id)
})

test('deleting a service deletes its runs, their logs and its schedule', async (t) => {
  const { api, daemon } = suite
  const cron = await createCron(t, api, { start_command: deaf, overlap: 'queue' })
  const worker = await createWorker(t, api)
  const done = await requestJob(api, cron.name, { command: 'echo done' })
  await finishedJob(api, done.id)
  const [running, waiting] = await runningAndWaiting(cron.name)
  const logFile = (id: string) =>
    readdirSync(daemon.dataDir, { recursive: true }).some((path) => String(path).includes(id))
  await until('the log of the finished run', async () => logFile(done.id))
  const deleted = await api.call('DELETE', `/services/${cron.name}`)

  assert.equal(deleted.status, 204)
  for (const id of [running, waiting]) {
    const { status, error } = await api.get(`/jobs/${id}`)
    assert.deepEqual([status, error], ['canceled', 'canceled by the removal of its service'])
  }
  await until('its end', async () => (await api.call('GET', `/services/${cron.id}`)).status === 404)
  for (const id of [running, waiting, done.id]) {
    assert.equal((await api.call('GET', `/jobs/${id}`)).status, 404)
    assert.equal(logFile(id), false)
  }
  const left = Object.values(await findLeftovers(daemon.prefix)).flat() as string[]
  assert.deepEqual(
    left.filter((object) => object.includes(cron.name)),
    [],
  )
  await api.post('/services', { name: cron.name, type: 'cron_job', schedule: '@daily' })
  assert.deepEqual(await api.get(`/services/${cron.name}/jobs`), [])
  assert.equal((await api.get(`/services/${cron.name}/schedule`)).last_run, null)
  const { id } = await requestJob(api, worker.name, { command: 'true' })
  assert.equal((await finishedJob(api, id)).status, 'succeeded', 'other services run on')
})

/** A run of the service's own command, and one that waits for it. */
async function runningAndWaiting(name: string): Promise<[running: string, waiting: string]> {
  const { api, daemon } = suite
  const running = await requestJob(api, name, {})
  await untilLogged(api, running.id, 'begun')
  await runningContainer(docker, daemon, running.id)
  const waiting = await requestJob(api, name, {})
  await untilLogged(api, waiting.id, `waiting for ${running.id} of this service to end`)
  return [running.id, waiting.id]
}
