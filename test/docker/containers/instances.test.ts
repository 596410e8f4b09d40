import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openInstances } from '../../../src/docker/containers/instances.ts'
import { containerSpec } from '../../../src/docker/containers/spec.ts'
import { ownerLabels } from '../../../src/docker/engine/names.ts'
import { openDockerSite, testOwner, until } from '../../support/docker/docker-site.ts'
import { long } from '../../support/system/drill-size.ts'

test('an instance runs with its limits at its address, reachable by the name of its service', async (t) => {
  const { instances, spec } = await openDockerSite(t)
  const server = await spec({ command: 'echo pong > /tmp/index.html && httpd -f -p 80 -h /tmp' })
  const client = await spec({
    serviceName: 'client',
    command: 'until wget -q -O - http://web/ 2> /dev/null; do sleep 0.1; done; sleep 600',
  })

  const state = await instances.ensure(server)
  await instances.ensure(client)

  const { containerId, startedAt, pid, ...rest } = state
  assert.ok(containerId && startedAt && pid)
  assert.deepEqual(rest, {
    name: server.name,
    deployId: server.deployId,
    serviceId: server.serviceId,
    index: 0,
    state: 'running',
    address: server.address,
    finishedAt: null,
    exitCode: null,
    oomKilled: false,
    health: null,
    restartCount: 0,
    restart: 'no',
    memoryLimitBytes: 64 * 1024 * 1024,
    cpuLimit: 0.5,
    image: server.image,
  })
  const response = await until('the answer', async () => (await instances.tail(client.name, 1))[0])
  assert.equal(response.line, 'pong')
})

test('ensuring the same instance again finds it, and another spec of that name replaces it', async (t) => {
  const { instances, spec } = await openDockerSite(t)
  const wanted = await spec()

  const first = await instances.ensure(wanted)
  const again = await instances.ensure(wanted)
  const changed = await instances.ensure({ ...wanted, command: 'sleep 601' })

  assert.deepEqual(again, first)
  assert.notEqual(changed.containerId, first.containerId)
  assert.equal((await instances.list({})).length, 1)
})

test('a restart policy is changed in place', async (t) => {
  const { instances, spec } = await openDockerSite(t)
  const wanted = await spec()
  const first = await instances.ensure(wanted)

  await instances.setRestart(wanted.name, 'unless-stopped')

  assert.deepEqual(await instances.inspect(wanted.name), { ...first, restart: 'unless-stopped' })
  assert.deepEqual(await instances.ensure(wanted), first)
})

test('a stop sends SIGTERM first, is final, and may be repeated', async (t) => {
  const { instances, spec } = await openDockerSite(t)
  const command = 'trap "echo bye; exit 7" TERM; echo ready; while true; do sleep 0.05; done'
  const wanted = await spec({ command, restart: 'unless-stopped' })
  await instances.ensure(wanted)
  await until('it is ready', async () => (await instances.tail(wanted.name, 1)).length > 0)

  await instances.stop(wanted.name, 10)
  await instances.stop(wanted.name, 10)

  const state = await instances.inspect(wanted.name)
  assert.deepEqual([state?.state, state?.exitCode, state?.restart], ['exited', 7, 'no'])
  assert.equal((await instances.tail(wanted.name, 1))[0]?.line, 'bye')
})

test('a command that ignores SIGTERM is killed after the grace period', async (t) => {
  const { instances, spec } = await openDockerSite(t)
  const command = 'trap "" TERM; echo ready; while true; do sleep 0.05; done'
  const wanted = await spec({ command })
  await instances.ensure(wanted)
  await until('it is ready', async () => (await instances.tail(wanted.name, 1)).length > 0)

  await instances.stop(wanted.name, 1)

  const state = await instances.inspect(wanted.name)
  assert.deepEqual([state?.exitCode, state?.oomKilled], [137, false])
})

long('an instance that Docker keeps restarting shows how it exited', async (t) => {
  const { instances, spec } = await openDockerSite(t)
  const { name } = await instances.ensure(await spec({ command: 'exit 3', restart: 'unless-stopped' }))

  const state = await until('it restarts', async () => {
    const seen = await instances.inspect(name)
    return seen?.state === 'restarting' && seen.restartCount > 1 && seen
  })

  assert.equal(state.exitCode, 3)
})

test('a stopped instance starts again, and starting a running one does nothing', async (t) => {
  const { instances, spec } = await openDockerSite(t)
  const wanted = await spec()
  await instances.ensure(wanted)
  await instances.stop(wanted.name, 1)

  await instances.start(wanted.name)
  await instances.start(wanted.name)

  const state = await instances.inspect(wanted.name)
  assert.deepEqual([state?.state, state?.address], ['running', wanted.address])
})

test('a container without all of our labels is ignored by every operation', async (t) => {
  const { engine, owner, instances, spec } = await openDockerSite(t)
  const wanted = await spec()
  const foreign = { ...owner, serverId: testOwner().serverId }
  const options = containerSpec(owner, wanted, await engine.info())
  const { id } = await engine.docker.createContainer({ ...options, Labels: ownerLabels(foreign) })
  await engine.docker.getContainer(id).start()

  const { name } = wanted
  const changes = [
    () => instances.ensure(wanted),
    () => instances.start(name),
    () => instances.setRestart(name, 'no'),
    () => instances.stop(name, 1),
    () => instances.remove(name),
  ]

  for (const change of changes) {
    await assert.rejects(change, { code: 'docker_error', message: /does not belong to this server/ })
  }
  assert.equal(await instances.inspect(name), null)
  assert.deepEqual(await instances.list({}), [])
  assert.equal((await engine.docker.getContainer(id).inspect()).State.Running, true)
})

test('the list contains the instances of one deploy or service, and only ours', async (t) => {
  const { engine, owner, instances, spec } = await openDockerSite(t)
  const one = await spec({ deployId: 'dep-one', serviceId: 'svc-one' })
  const two = await spec({ deployId: 'dep-two', serviceId: 'svc-one' })
  const three = await spec({ deployId: 'dep-three', serviceId: 'svc-two' })
  for (const wanted of [one, two, three]) await instances.ensure(wanted)

  const namesOf = async (filter: object) => (await instances.list(filter)).map(({ name }) => name)

  assert.deepEqual(await namesOf({ deployId: 'dep-two' }), [two.name])
  assert.deepEqual(await namesOf({ serviceId: 'svc-one' }), [one.name, two.name])
  assert.deepEqual(await namesOf({ serviceId: 'svc-one', deployId: 'dep-three' }), [])
  const others = openInstances(engine, { ...owner, serverId: testOwner().serverId })
  assert.deepEqual(await others.list({}), [])
})

test('usage is measured while an instance runs', async (t) => {
  const { instances, spec } = await openDockerSite(t)
  const wanted = await spec({ command: 'while true; do true; done', cpuLimit: 0.5 })
  await instances.ensure(wanted)

  const usage = await until('work is seen', async () => {
    const seen = await instances.usage(wanted.name)
    return seen && seen.cpuPercent > 5 && seen
  })

  assert.ok(usage.cpuPercent < 120, String(usage.cpuPercent))
  assert.ok(usage.memoryBytes > 0 && usage.memoryBytes < 64 * 1024 * 1024, String(usage.memoryBytes))
  await instances.stop(wanted.name, 1)
  assert.equal(await instances.usage(wanted.name), null)
})
