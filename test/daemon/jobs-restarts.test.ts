// Runs that outlive their daemon on a real engine: it is killed and stopped at each of their steps.
// While it is down, the tests use Docker directly.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isHeld, openJobSite, steps } from '../support/daemon/job-steps.ts'
import {
  clearedJob,
  createCron,
  createWorker,
  findInstance,
  finishedJob,
  jobContainers,
  jobLog,
  output,
  requestJob,
  runIn,
  runJob,
  runningContainer,
  sharedWorker,
  untilLogged,
} from '../support/daemon/jobs.ts'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { dockerfile, until } from '../support/daemon/service.ts'
import { watchContainers } from '../support/docker/container-events.ts'
import { long } from '../support/system/drill-size.ts'

const scope = fileScope()
const site = await openJobSite(scope)
const { daemon, docker, restart } = site
const aWorker = sharedWorker(scope, daemon, { disk_mount_path: '/data' })

/** Counts as fast as the shell can, in steps, until it is stopped. */
const counting = [
  'n=0',
  'until [ -e /data/enough ]; do seq $((n + 1)) $((n + 400)); n=$((n + 400)); sleep 0.1; done',
  'echo end; exit 6',
].join('\n')

test('a run survives a kill and a stop of the daemon, with every log line once', async () => {
  const { name } = await aWorker()
  const { id } = await requestJob(daemon.api, name, { command: counting })
  await untilLogged(daemon.api, id, '5000')
  const before = await runningContainer(docker, daemon, id)
  await restart('kill')
  await untilLogged(daemon.api, id, '11000')
  await restart('stop')
  await untilLogged(daemon.api, id, '15000')
  const after = await runningContainer(docker, daemon, id)
  await runJob(daemon.api, name, 'touch /data/enough')
  const run = await finishedJob(daemon.api, id)
  await runJob(daemon.api, name, 'rm /data/enough')

  assert.deepEqual([after.Id, after.State.StartedAt], [before.Id, before.State.StartedAt])
  assert.deepEqual([run.status, run.exit_code, run.error], ['failed', 6, 'exited with code 6'])
  const lines = await output(daemon.api, id)
  assert.equal(lines.pop(), 'end')
  assert.ok(lines.length >= 15_000)
  assert.deepEqual(
    lines,
    lines.map((_, index) => String(index + 1)),
  )
  const said = await jobLog(daemon.api, id)
  assert.equal(said.filter(({ stream }) => stream === 'system').length, 2, 'it begins and ends once')
})

long('a run that ends during downtime has its outcome; one past its limit is stopped', async () => {
  const { api } = daemon
  const limitS = 6
  const { name } = await aWorker()
  const instance = await findInstance(api, name)
  const isDown = 'echo begun; until [ -e /data/down ]; do sleep 0.1; done'
  const commands: [command: string, timeout_seconds: number][] = [
    [`${isDown}; echo over; exit 5`, 600],
    [`${isDown}; echo over`, limitS],
    [`trap "echo told; exit 4" TERM; ${isDown}; while true; do sleep 0.1; done`, limitS],
  ]
  const asking = commands.map(([command, timeout_seconds]) =>
    requestJob(api, name, { command, timeout_seconds }),
  )
  const ids = (await Promise.all(asking)).map(({ id }) => id)
  const started = await Promise.all(ids.map((id) => runningContainer(docker, daemon, id)))
  await restart('kill', async () => {
    const latest = Math.max(...started.map(({ State }) => Date.parse(State.StartedAt)))
    await until('their limit to be over', async () => Date.now() > latest + limitS * 1000)
    await runIn(docker, instance, 'touch', '/data/down')
    await until('two of them to end', async () => (await running()).length === 1)
  })
  const runs = await Promise.all(ids.map((id) => finishedJob(daemon.api, id)))

  assert.deepEqual(
    runs.map(({ status, exit_code, error }) => [status, exit_code, error]),
    [
      ['failed', 5, 'exited with code 5'],
      ['succeeded', 0, null],
      ['failed', 4, `took longer than its limit of ${limitS}s (--timeout, --job-timeout)`],
    ],
  )
  assert.deepEqual(await Promise.all(ids.map((id) => output(daemon.api, id))), [
    ['begun', 'over'],
    ['begun', 'over'],
    ['begun', 'told'],
  ])
  const [failed, succeeded, late] = runs.map(({ finished_at }) => finished_at)
  assert.ok(failed < late && succeeded < late, 'they finished at the time in Docker')
  await Promise.all(ids.map((id) => clearedJob(daemon.api, id)))
  assert.deepEqual(await jobContainers(docker, daemon), [])
})

async function running() {
  return (await jobContainers(docker, daemon)).filter(({ State }) => State === 'running')
}

long('a run whose daemon is killed at any step starts once, ends once, and leaves nothing', async (t) => {
  const { name } = await aWorker()
  const events = await watchContainers(t, docker, daemon.prefix)
  const ids: string[] = []
  for (const [step, bring] of Object.entries(steps)) {
    const id = await bring(site, name, events)
    ids.push(id)
    await restart()
    const run = await clearedJob(daemon.api, id)
    const isCanceled = step.includes('canceled')
    const expected = isCanceled
      ? ['canceled', 7, 'canceled by the server token']
      : ['failed', 5, 'exited with code 5']
    assert.deepEqual([run.status, run.exit_code, run.error], expected, step)
    assert.deepEqual(await output(daemon.api, id), ['begun'], step)
    assert.equal((await jobLog(daemon.api, id)).length, 3, step)
    assert.deepEqual(await jobContainers(docker, daemon), [], step)
    await events.until('destroy', id)
    const actions = events.of(id).map(({ action }) => action)
    for (const action of ['create', 'start', 'die', 'destroy']) {
      assert.equal(actions.filter((each) => each === action).length, 1, `${step}: ${actions}`)
    }
  }
  const started = await runIn(docker, await findInstance(daemon.api, name), 'cat', '/data/begun')
  assert.deepEqual(started.trim().split(/\s+/), ids)
})

long('a run that waits for another still waits after a kill of the daemon, and runs once', async (t) => {
  const command = 'echo begun; sleep 4; echo over'
  const cron = await createCron(t, daemon.api, { start_command: command, overlap: 'queue' })
  const events = await watchContainers(t, docker, daemon.prefix)
  const first = await requestJob(daemon.api, cron.name, {})
  await untilLogged(daemon.api, first.id, 'begun')
  const second = await requestJob(daemon.api, cron.name, {})
  await untilLogged(daemon.api, second.id, (line) => line.startsWith(`waiting for ${first.id}`))
  await restart()

  for (const { id } of [first, second]) {
    const run = await clearedJob(daemon.api, id)
    assert.equal(run.status, 'succeeded')
    assert.deepEqual(await output(daemon.api, id), ['begun', 'over'])
  }
  // The reason may also be that the engine does not respond, which takes over 1 s on a busy machine.
  const waiting = `waiting for ${first.id}`
  const waited = (await jobLog(daemon.api, second.id)).filter(({ line }) => line.startsWith(waiting))
  assert.equal(waited.length, 1)
  const own = events.all.filter(({ id }) => id === first.id || id === second.id)
  const story = own.filter(({ action }) => action === 'start' || action === 'die')
  assert.deepEqual(
    story.map(({ action, id }) => [action, id]),
    [first.id, second.id].flatMap((id) => [
      ['start', id],
      ['die', id],
    ]),
  )
})

long('a container without a known run is removed at the next start of the daemon', async () => {
  const { name } = await aWorker()
  const { id } = await requestJob(daemon.api, name, {
    command: 'until [ -e /data/stray ]; do sleep 0.1; done',
  })
  const { Config } = await runningContainer(docker, daemon, id)
  const Labels = { ...Config.Labels, 'berth.id': 'job-01hzy7k9m0000000000000test' }
  const stray = await docker.createContainer({ Image: Config.Image, Cmd: ['sleep', '1000'], Labels })
  await stray.start()
  await restart()
  await until('the stray one to be gone', async () => {
    const found = await jobContainers(docker, daemon)
    return found.length === 1 && found[0]!.Labels['berth.id'] === id
  })
  await runJob(daemon.api, name, 'touch /data/stray')
  assert.equal((await clearedJob(daemon.api, id)).status, 'succeeded')
})

long('a run canceled while Docker creates its container leaves nothing', async () => {
  const { name } = await aWorker()
  const ofRun = /^POST \S+\/containers\/create\?name=\S+-job/
  site.late.delay({ pattern: ofRun, ms: 1500 })
  const { id } = await requestJob(daemon.api, name, { command: 'echo never' })
  await until('its request', async () => site.late.waiting.size > 0)
  assert.equal((await daemon.api.post(`/jobs/${id}/cancel`)).status, 'canceled')
  site.late.delay(null)
  await clearedJob(daemon.api, id)
  await until('the container to be made', async () => site.late.waiting.size === 0)

  assert.deepEqual(await jobContainers(docker, daemon, id), [])
  assert.deepEqual(await output(daemon.api, id), [])
})

long('the image of a pending run stays until the run has ended', async (t) => {
  const { api } = daemon
  const service = await createWorker(t, api)
  const ofRun = /^POST \S+\/containers\/create\?name=\S+-job/
  site.door.hold(ofRun)
  const { id, image } = await requestJob(api, service.name, { command: 'echo as it was' })
  await isHeld(site.door, ofRun)
  const second = await service.deploy({ Dockerfile: await dockerfile('RUN echo second') })
  await service.deploy({ Dockerfile: await dockerfile('RUN echo third') })
  await until('the second image to go', async () => !(await images()).includes(second.image))
  assert.ok((await images()).includes(image))
  site.door.release()

  const run = await clearedJob(api, id)
  assert.deepEqual([run.status, run.image, run.deploy_id], ['succeeded', image, service.first.id])
  assert.deepEqual(await output(api, id), ['as it was'])
  await service.deploy({ Dockerfile: await dockerfile('RUN echo fourth') })
  await until('the first image to go', async () => !(await images()).includes(image))
})

async function images(): Promise<string[]> {
  return (await findLeftovers(daemon.prefix)).images
}
