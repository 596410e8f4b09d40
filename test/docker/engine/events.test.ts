import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Engine } from '../../../src/docker/engine/client.ts'
import { type ContainerEvent, watchEvents } from '../../../src/docker/engine/events.ts'
import type { Owner } from '../../../src/docker/engine/names.ts'
import { openDockerSite, until } from '../../support/docker/docker-site.ts'
import { openEngineProxy } from '../../support/docker/engine-proxy.ts'

test('the events of an instance are reported in order, with its owner and its exit', async (t) => {
  const { engine, owner, instances, spec } = await openDockerSite(t)
  const { events } = await watch(t, engine, owner)
  const wanted = await spec({ command: 'exit 3' })

  await instances.ensure(wanted)
  await until('it ends', () => events.some(({ action }) => action === 'die'))
  await instances.remove(wanted.name)

  await until('it is gone', () => events.some(({ action }) => action === 'destroy'))
  const { name, deployId, serviceId, index } = wanted
  const reported = (action: string, exitCode: number | null = null) => ({
    type: 'container',
    action,
    name,
    kind: 'deploy',
    deployId,
    serviceId,
    index,
    exitCode,
  })
  assert.deepEqual(
    events.map(({ timeNano, ...event }) => event),
    [reported('create'), reported('start'), reported('die', 3), reported('destroy')],
  )
})

test('interruptions of the stream lose and repeat no event', async (t) => {
  const { owner, instances, spec } = await openDockerSite(t)
  const proxy = await openEngineProxy(t)
  const { events, connections } = await watch(t, proxy.engine, owner)
  const wanted = await spec()
  await instances.ensure(wanted)

  for (let round = 0; round < 5; round++) {
    await instances.stop(wanted.name, 0)
    proxy.cut()
    await instances.start(wanted.name)
    proxy.cut()
  }

  const actions = () =>
    events.map(({ action }) => action).filter((action) => action === 'start' || action === 'die')
  await until('all of it', () => actions().length >= 11)
  assert.deepEqual(actions(), ['start', ...Array.from({ length: 5 }, () => ['die', 'start']).flat()])
  assert.ok(connections() > 1)
})

test('events of foreign containers are not reported', async (t) => {
  const mine = await openDockerSite(t)
  const others = await openDockerSite(t)
  const { events } = await watch(t, mine.engine, mine.owner)

  await others.instances.ensure(await others.spec())
  const wanted = await mine.spec()
  await mine.instances.ensure(wanted)

  await until('ours', () => events.length >= 2)
  assert.deepEqual([...new Set(events.map(({ name }) => name))], [wanted.name])
})

async function watch(t: TestContext, engine: Engine, owner: Owner) {
  const events: ContainerEvent[] = []
  const abort = new AbortController()
  let connections = 0
  const watching = watchEvents(
    engine,
    owner,
    (event) => events.push(event),
    abort.signal,
    () => connections++,
  )
  const stop = async () => {
    abort.abort()
    await watching
  }
  t.after(stop)
  await until('the stream is open', () => connections > 0)
  return { events, connections: () => connections, stop }
}
