// Datastores that cannot be created, or are lost: the reason is reported, they are retried, and no
// data is lost.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Body } from '../support/daemon/api.ts'
import { type DatastoreSite, openDatastoreSite } from '../support/daemon/datastores.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { until } from '../support/daemon/service.ts'
import { createEngineGate } from '../support/docker/engine-gate.ts'
import { long } from '../support/system/drill-size.ts'

const site = await openDatastoreSite(fileScope())
const { containerOf, create, docker, psql, reached, redis } = site

/** The datastore, whose creation fails. */
async function createFailed({ api }: DatastoreSite, body: object): Promise<Body> {
  const created = await api.call('POST', '/datastores', { kind: 'redis', version: '7', ...body })
  assert.deepEqual([created.status, created.body.status], [201, 'failed'])
  return created.body
}

async function holdPort(port: number): Promise<Server> {
  const holder = createServer().listen(port, '127.0.0.1')
  await once(holder, 'listening')
  return holder
}

test('a missing image fails the creation, with the reason in the response', async () => {
  const none = await createFailed(site, { kind: 'postgres', name: 'none', version: '99' })
  assert.match(none.error, /postgres:99/)
  assert.ok(none.next_attempt_at)
})

long('a server killed at its memory limit is reported as such, and can get a higher limit', async () => {
  const requested = { kind: 'postgres', name: 'tiny', version: '15', memory_limit_mb: 16 }
  assert.equal((await site.api.call('POST', '/datastores', requested)).status, 201)
  // With too little memory it may run for longer than the creation waits.
  const { error } = await reached('tiny', 'failed')
  assert.match(error, /killed (for using more than its|at the) memory limit of 16 MiB/)

  await site.api.patch('/datastores/tiny', { memory_limit_mb: 256 })
  assert.equal((await site.api.post('/datastores/tiny/restart')).error, null)

  const { external_url } = await reached('tiny', 'available')
  assert.equal(await psql(external_url, 'select 1'), '1')
})

long('without enough disk space no datastore is created', async (t) => {
  const full = await openDatastoreSite(t, { args: ['--min-free-disk=1000000000'] })
  const { error } = await createFailed(full, { name: 'big' })
  assert.match(error, /a datastore needs 1000000000 MiB \(--min-free-disk\)$/)
})

long('a port in use fails the creation, until it is free', async (t) => {
  const holder = await holdPort(0)
  const { port } = holder.address() as { port: number }
  const single = await openDatastoreSite(t, { args: [`--datastore-ports=${port}`] })
  const { error } = await createFailed(single, { name: 'late' })
  assert.equal(error, `port ${port} of 127.0.0.1 is in use (--datastore-ports)`)

  await new Promise((resolve) => holder.close(resolve))

  assert.equal((await single.reached('late', 'available')).host_port, port)
})

long('a port that was taken while its datastore was down is replaced, and the data stays', async (t) => {
  const { host_port: former, external_url } = await create({ kind: 'redis', name: 'moved' })
  await redis(external_url, 'set', 'word', 'kept')
  await site.daemon.kill()
  await containerOf('moved').stop()
  const holder = await holdPort(former)
  t.after(() => new Promise((resolve) => holder.close(resolve)))

  await site.daemon.start()

  const moved = await until('another port', async () => {
    const found = await site.api.get('/datastores/moved')
    return found.host_port !== former && found.status === 'available' && found
  })
  assert.equal(await redis(moved.external_url, 'get', 'word'), 'kept')
})

long('while Docker is down a creation reports that; when it is back the datastore starts', async (t) => {
  const door = await createEngineGate(t)
  const away = await openDatastoreSite(t, { args: ['--docker', door.address] })
  assert.equal((await createFailed(away, { name: 'later' })).error, 'Docker does not respond')

  await door.open()

  await away.reached('later', 'available')
})

for (const [what, lose] of [
  ['is killed', (name: string) => containerOf(name).kill()],
  ['is stopped from outside', (name: string) => containerOf(name).stop()],
  ['disappears', (name: string) => containerOf(name).remove({ force: true, v: true })],
] as const) {
  for (const isDown of [false, true]) {
    const testLoss = what === 'is killed' && !isDown ? test : long
    testLoss(
      `a datastore that ${what}${isDown ? ' during downtime' : ''} is back with its data`,
      async (t: TestContext) => {
        const name = `lost-${what.replaceAll(' ', '-')}${isDown ? '-down' : ''}`.slice(0, 40)
        const { external_url } = await create({ kind: 'postgres', name })
        await psql(external_url, 'create table kept as select 1 as one')
        if (isDown) await site.daemon.kill()

        await lose(name)
        const lostAt = Date.now()
        if (isDown) await site.daemon.start()

        await until('its data', async () => (await psql(external_url, 'select one from kept')) === '1')
        t.diagnostic(`back after ${((Date.now() - lostAt) / 1000).toFixed(1)} s`)
        await reached(name, 'available')
      },
    )
  }
}

long('a datastore that crashes repeatedly is failed, with its last output', async () => {
  const { Config } = await containerOf((await create({ kind: 'postgres', name: 'broken' })).name).inspect()
  const wreck = await docker.createContainer({
    Image: Config.Image,
    Entrypoint: ['sh', '-c', 'rm -rf "$PGDATA"/global'],
    HostConfig: { VolumesFrom: [containerOf('broken').id] },
  })
  await wreck.start()
  await wreck.wait()
  await wreck.remove()
  await containerOf('broken').kill()

  const { status } = await until('its output', async () => {
    const found = await site.api.get('/datastores/broken')
    return /global/.test(found.error ?? '') && found
  })
  assert.equal(status, 'failed')
})

test('no password appears in a log, in the history, in an error or in an argument', async () => {
  const listed = [...(await site.api.get('/datastores'))]
  const logs = site.daemon.log.join('\n')
  for (const { name, password } of listed) {
    const history = JSON.stringify(await site.api.get(`/datastores/${name}/history`))
    const container = await containerOf(name)
      .inspect()
      .catch(() => null)
    const top = container?.State.Running ? JSON.stringify(await containerOf(name).top()) : ''
    const output = container ? String(await containerOf(name).logs({ stdout: true, stderr: true })) : ''
    for (const text of [
      logs,
      history,
      top,
      output,
      JSON.stringify(container?.Args),
      JSON.stringify(container?.Config.Labels),
    ])
      assert.ok(!text?.includes(password), `${name}: ${text?.slice(0, 200)}`)
  }
})
