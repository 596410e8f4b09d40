// Events of live instances appear at once in the change feed, and in the log of their service.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import Docker from 'dockerode'
import type { Api, Body } from '../support/daemon/api.ts'
import { dockerfile, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { ensureEngine } from '../support/docker/engine.ts'
import { long } from '../support/system/drill-size.ts'

const suite = daemonSuite()
const docker = new Docker({ socketPath: (await ensureEngine()).replace('unix://', '') })

async function createWorker(t: TestContext, command: string, settings: object = {}) {
  const kind = { type: 'background_worker', start_command: command, ...settings }
  return createService(t, suite.api, { Dockerfile: await dockerfile() }, kind)
}

/** The changes of a service's instances from now on. */
function followInstances(t: TestContext, api: Api, serviceId: string): Body[] {
  const controller = new AbortController()
  t.after(() => controller.abort())
  const changes: Body[] = []
  const follow = async () => {
    for await (const { event, data } of api.events('/events', { signal: controller.signal })) {
      const change = event === 'change' ? JSON.parse(data) : null
      if (change?.kind === 'instance' && change.service_id === serviceId) changes.push(change)
    }
  }
  follow().catch(() => undefined)
  return changes
}

async function systemLines(api: Api, name: string): Promise<Body[]> {
  const lines: Body[] = []
  for await (const { event, data } of api.events(`/services/${name}/logs?tail=10000`)) {
    if (event === 'log') lines.push(JSON.parse(data))
  }
  return lines.filter(({ stream }) => stream === 'system')
}

const instancesOf = async (api: Api, name: string): Promise<Body[]> =>
  (await api.get(`/services/${name}/status`)).instances

test('an instance killed in Docker causes a change and a system line, and so does its return', async (t) => {
  const { api } = suite
  const { name, id, first } = await createWorker(t, 'sleep 600', { instances: 2 })
  assert.deepEqual(await systemLines(api, name), [], 'a deploy tells of its starts itself')
  const changes = followInstances(t, api, id)
  const [, second] = await instancesOf(api, name)
  await until('the stream', async () => (await api.get('/info')) && true)

  await docker.getContainer(second!.container_id).kill()

  await until('both lines', async () => (await systemLines(api, name)).length >= 2)
  const [exit, start] = await systemLines(api, name)
  assert.match(exit!.line, /^instance 2 exited with code 137 \(SIGKILL\); it restarts$/)
  assert.deepEqual([exit!.instance, exit!.deploy_id], ['1', first.id])
  assert.deepEqual(exit!.event, {
    type: 'exited',
    exit_code: 137,
    out_of_memory: false,
    restarts: true,
    restarts_in_ms: null,
  })
  assert.deepEqual([start!.line, start!.event.type], ['instance 2 started', 'started'])
  const last = await until('the last change', async () => {
    const [last] = changes.slice(-1)
    return last?.status === 'running' && last
  })
  const instances = await instancesOf(api, name)
  assert.deepEqual([last.id, last.revision], [instances[1]!.name, null])
})

long('an instance that exceeds its memory limit has a log line, also for its restart', async (t) => {
  const { api } = suite
  // It runs until it is live, however long that takes here.
  const command = 'while [ ! -e /tmp/now ]; do sleep 0.1; done; rm /tmp/now; tail /dev/zero'
  const { name } = await createWorker(t, command, { memory_limit_mb: 16 })
  const [instance] = await instancesOf(api, name)
  const exec = await docker
    .getContainer(instance!.container_id)
    .exec({ Cmd: ['touch', '/tmp/now'], AttachStdout: true })
  await exec.start({})

  const exit = await until('the line', async () => {
    const lines = await systemLines(api, name)
    return lines.find(({ event }) => event?.type === 'exited')
  })

  assert.equal(exit.event.out_of_memory, exit.event.exit_code === 137)
  assert.equal(exit.event.restarts, true)
  assert.match(exit.line, /^instance 1 exited with code \d+.*; it restarts( in [\d.]+s)?$/)
})

long('scale, suspend and resume cause changes and system lines, and no exit counts as a crash', async (t) => {
  const { api } = suite
  const { name, id } = await createWorker(t, 'trap "exit 0" TERM; sleep 600 & wait')
  const changes = followInstances(t, api, id)
  const say = async (line: RegExp) =>
    until(String(line), async () => (await systemLines(api, name)).some((found) => line.test(found.line)))

  await api.post(`/services/${name}/scale`, { instances: 2 })
  await say(/^instance 2 started$/)
  await api.post(`/services/${name}/scale`, { instances: 1 })
  await say(/^instance 2 was stopped, and exited with code 0$/)
  await until('its removal', async () => changes.some(({ status }) => status === 'removed'))
  await api.post(`/services/${name}/suspend`)
  await say(/^instance 1 was stopped/)
  await api.post(`/services/${name}/resume`)
  await say(/^instance 1 started$/)

  const types = (await systemLines(api, name)).map(({ event }) => event.type)
  assert.deepEqual(types, ['started', 'stopped', 'stopped', 'started'])
})
