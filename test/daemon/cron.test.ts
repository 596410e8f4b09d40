// Cron jobs on a real engine with the real clock: what starts at the scheduled time, and what happens to a
// run that is still active.
// All wait for the same minute, so preparations are complete before the schedule is set.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { withoutMac } from '../../src/docker/engine/names.ts'
import { streamLines } from '../../src/docker/engine/stream-lines.ts'
import type { Body } from '../support/daemon/api.ts'
import {
  clearedJob,
  createCron,
  finishedJob,
  jobLog,
  openDocker,
  output,
  requestJob,
  scheduledRuns,
  untilLogged,
} from '../support/daemon/jobs.ts'
import { dockerfile, until } from '../support/daemon/service.ts'
import { daemonSuite, type TestService } from '../support/daemon/suite.ts'

const docker = await openDocker()
const suite = daemonSuite()

const everyMinute = { schedule: '* * * * *' }
const lasting = 'trap "echo told; exit 7" TERM; echo begun; while true; do sleep 0.1; done'

test('at one scheduled time', { concurrency: true }, async (t) => {
  await Promise.all([
    t.test(
      'a cron job runs its command in the live version, and in the next version from then on',
      runsWhatIsLive,
    ),
    t.test('a scheduled time during an active run is skipped, and that run records it', skips),
    t.test('a queued run waits for the one before it', queues),
    t.test('a run with the replace policy ends the active one first', replaces),
  ])
})

async function runsWhatIsLive(t: TestContext): Promise<void> {
  const { api, daemon } = suite
  const cron = await createCron(t, api, { ...everyMinute, start_command: 'echo in $BERTH_DEPLOY_ID' })
  const { instances } = await api.get(`/services/${cron.name}/status`)
  assert.deepEqual(instances, [], 'nothing of it runs between its instants')
  const schedule = await api.get(`/services/${cron.name}/schedule`)
  assert.deepEqual([schedule.status, schedule.last_run, schedule.last_skip], ['waiting', null, null])
  const [expected] = schedule.next
  const [run] = await scheduledRuns(api, cron.name, 1)

  const { id, status, trigger, scheduled_for, overlap, deploy_id, image } = await finishedJob(api, run.id)
  assert.deepEqual(
    { status, trigger, scheduled_for, overlap, deploy_id, image: withoutMac(image) },
    {
      status: 'succeeded',
      trigger: 'schedule',
      scheduled_for: expected,
      overlap: 'skip',
      deploy_id: cron.first.id,
      image: `${daemon.prefix}/${cron.name}:${cron.first.id}`,
    },
  )
  assert.deepEqual(await output(api, id), [`in ${cron.first.id}`])
  assert.equal((await api.get(`/services/${cron.name}/schedule`)).last_run.id, id)
  const next = await cron.deploy({ Dockerfile: await dockerfile('RUN echo next') })
  const again = await finishedJob(api, (await requestJob(api, cron.name, {})).id)
  assert.deepEqual([again.deploy_id, again.image === image], [next.id, false])
  assert.deepEqual(await output(api, again.id), [`in ${next.id}`])
}

async function skips(t: TestContext): Promise<void> {
  const { api } = suite
  const { cron, blocker } = await blocked(t, 'skip')
  const skip = await until(
    'the skip',
    async () => (await api.get(`/services/${cron.name}/schedule`)).last_skip,
  )

  assert.equal(skip.reason, `${blocker} had not ended`)
  const text = `the run due at ${skip.scheduled_for} was skipped: this run has not ended`
  await untilLogged(api, blocker, text)
  const runs = await api.get(`/services/${cron.name}/jobs`)
  assert.deepEqual(
    runs.map(({ id, status }: Body) => [id, status]),
    [[blocker, 'running']],
  )
}

async function queues(t: TestContext): Promise<void> {
  const { api } = suite
  const { cron, blocker, timeOf } = await blocked(t, 'queue')
  const [run] = await scheduledRuns(api, cron.name, 1)
  await untilLogged(api, run.id, `waiting for ${blocker} of this service to end`)
  assert.equal((await api.get(`/jobs/${run.id}`)).status, 'pending')
  await api.post(`/jobs/${blocker}/cancel`)
  await untilLogged(api, run.id, 'begun')
  assert.equal((await clearedJob(api, blocker)).exit_code, 7)
  assert.ok((await timeOf('die', blocker)) <= (await timeOf('start', run.id)))
}

async function replaces(t: TestContext): Promise<void> {
  const { api } = suite
  const { cron, blocker, timeOf } = await blocked(t, 'replace')
  const [run] = await scheduledRuns(api, cron.name, 1)
  await untilLogged(api, run.id, 'begun')
  const replaced = await clearedJob(api, blocker)
  const { status, error, exit_code } = replaced
  assert.deepEqual([status, error, exit_code], ['canceled', `canceled by ${run.id}, which replaces it`, 7])
  assert.deepEqual(await output(api, blocker), ['begun', 'told'])
  assert.equal((await jobLog(api, blocker)).at(-1)?.line, error)
  assert.ok((await timeOf('die', blocker)) <= (await timeOf('start', run.id)))
}

/** A cron job that is due at the next minute while a manual run of its own command is active. */
async function blocked(t: TestContext, overlap: string) {
  const { api, daemon } = suite
  const cron: TestService = await createCron(t, api, { start_command: lasting, overlap })
  const timeOf = await watchRuns(t, daemon.prefix)
  const { id } = await requestJob(api, cron.name, {})
  await untilLogged(api, id, 'begun')
  await api.patch(`/services/${cron.name}`, everyMinute)
  t.after(() => api.call('DELETE', `/services/${cron.name}`))
  return { cron, timeOf, blocker: id }
}

/** Returns a function that waits for an event of a run's container and returns its time in the engine. */
async function watchRuns(t: TestContext, prefix: string) {
  const filters = { type: ['container' as const], label: [`berth.instance=${prefix}`, 'berth.kind=job'] }
  // With a `since` in the past, the engine sends its response headers at once, so we know that it listens.
  const stream = await docker.getEvents({ since: Math.floor(Date.now() / 1000) - 1, filters })
  t.after(() => (stream as NodeJS.ReadableStream & { destroy(): void }).destroy())
  const times = new Map<string, number>()
  const read = async () => {
    for await (const line of streamLines(stream)) {
      const { Action, Actor, timeNano } = JSON.parse(line)
      times.set(`${Action} ${Actor.Attributes['berth.id']}`, timeNano)
    }
  }
  void read().catch(() => undefined)
  return (action: string, id: string) => until(`${action} of ${id}`, async () => times.get(`${action} ${id}`))
}
