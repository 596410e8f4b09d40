// Runs that outlive their daemon on a real engine: it is killed and stopped while they run.
// While it is down, the tests use Docker directly.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { launchDaemon } from '../support/daemon/daemon.ts'
import {
  clearedJob,
  findInstance,
  finishedJob,
  jobContainers,
  jobLog,
  openDocker,
  output,
  requestJob,
  runIn,
  runJob,
  runningContainer,
  sharedWorker,
  untilLogged,
} from '../support/daemon/jobs.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { until } from '../support/daemon/service.ts'
import { long } from '../support/system/drill-size.ts'

const scope = fileScope()
const daemon = await launchDaemon()
scope.after(() => daemon.remove())
const docker = await openDocker()
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
  await daemon.kill()
  await daemon.start()
  await untilLogged(daemon.api, id, '11000')
  await daemon.stop()
  await daemon.start()
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
  await daemon.kill()
  const latest = Math.max(...started.map(({ State }) => Date.parse(State.StartedAt)))
  await until('their limit to be over', async () => Date.now() > latest + limitS * 1000)
  await runIn(docker, instance, 'touch', '/data/down')
  await until('two of them to end', async () => (await running()).length === 1)
  await daemon.start()
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
