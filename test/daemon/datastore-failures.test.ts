// Datastores that cannot be created, or are lost: the reason is reported, they are retried, and no
// data is lost.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { test } from 'node:test'
import type { Body } from '../support/daemon/api.ts'
import { type DatastoreSite, openDatastoreSite } from '../support/daemon/datastores.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { until } from '../support/daemon/service.ts'
import { long } from '../support/system/drill-size.ts'

const site = await openDatastoreSite(fileScope())
const { containerOf, create, psql, reached, redis } = site

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

test('a killed datastore is back with its data, and so is one that disappears during downtime', async () => {
  const { external_url } = await create({ kind: 'postgres', name: 'lost' })
  await psql(external_url, 'create table kept as select 1 as one')
  const back = async () => {
    await until('its data', async () => (await psql(external_url, 'select one from kept')) === '1')
    await reached('lost', 'available')
  }

  await containerOf('lost').kill()
  await back()
  await site.daemon.kill()
  await containerOf('lost').remove({ force: true, v: true })
  await site.daemon.start()
  await back()
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
