// Events of live instances appear at once in the change feed, and in the log of their service.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import Docker from 'dockerode'
import type { Api, Body } from '../support/daemon/api.ts'
import { dockerfile, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { ensureEngine } from '../support/docker/engine.ts'

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
