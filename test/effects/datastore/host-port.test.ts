// Host ports for datastores: free ones of the range, none that is in use, and a clear error if all are.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { type TestContext, test } from 'node:test'
import { choosePort, freePorts } from '../../../src/effects/datastore/start.ts'
import { id, openDatastorePorts, password } from '../../support/effects/datastore-ports.ts'

const noneRefused = new Set<number>()
const ascending = (a: number, b: number) => a - b

async function hold(port: number, host = '127.0.0.1'): Promise<Server> {
  const server = createServer().listen(port, host)
  await once(server, 'listening')
  return server
}

/** Holds that many consecutive ports; each can be released separately. */
async function holdPorts(t: TestContext, size: number): Promise<{ first: number; servers: Server[] }> {
  for (;;) {
    const servers = [await hold(0)]
    const first = (servers[0]!.address() as AddressInfo).port
    const releaseAll = () =>
      Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
    try {
      for (let port = first + 1; port < first + size; port++) servers.push(await hold(port))
      t.after(releaseAll)
      return { first, servers }
    } catch {
      await releaseAll()
    }
  }
}

const free = (server: Server) => new Promise((resolve) => server.close(resolve))

test('each free port of a range is found once, and no port in use', async (t) => {
  const { first, servers } = await holdPorts(t, 6)
  for (const index of [0, 2, 5]) await free(servers[index]!)
  const range = { first, last: first + 5 }
  const expected = [first, first + 2, first + 5]

  for (let round = 0; round < 10; round++) {
    const found = await freePorts('127.0.0.1', range, 8, noneRefused)
    assert.deepEqual(found.sort(ascending), expected)
  }
  assert.equal((await freePorts('127.0.0.1', range, 2, noneRefused)).length, 2)
  assert.deepEqual(await freePorts('127.0.0.1', range, 8, new Set(expected)), [])
  assert.deepEqual(await freePorts('127.0.0.1', range, 8, new Set(expected.slice(1))), [first])
})

test('an address that is not of the host has no free port', async () => {
  assert.deepEqual(await freePorts('192.0.2.1', { first: 25_000, last: 25_003 }, 8, noneRefused), [])
})

test('a port of another datastore is not chosen, even if nothing listens there now', async (t) => {
  const { ports, storage } = await openDatastorePorts(t)
  const { first, servers } = await holdPorts(t, 12)
  await Promise.all(servers.map(free))
  ports.settings.datastorePorts = { first, last: first + 11 }
  for (let index = 0; index < 11; index++) {
    const other = `dst-other-${index}`
    await storage.commit(() => storage.datastores.insert(other, `other-${index}`, password))
    await storage.datastores.movePort(other, [first + index])
  }

  assert.equal(await choosePort(ports, id, noneRefused), first + 11)

  assert.equal(storage.datastores.port(id), first + 11)
})

test('when every port is in use the error names the range, and the current port is kept', async (t) => {
  const { ports, storage } = await openDatastorePorts(t)
  const { first, servers } = await holdPorts(t, 2)
  ports.settings.datastorePorts = { first, last: first + 1 }
  await storage.datastores.movePort(id, [4000])

  await assert.rejects(choosePort(ports, id, noneRefused), {
    code: 'port_taken',
    message: `every port from ${first} to ${first + 1} of 127.0.0.1 is in use (--datastore-ports)`,
  })
  await free(servers[1]!)
  ports.settings.datastorePorts = { first: first + 1, last: first + 1 }
  await assert.rejects(choosePort(ports, id, new Set([first + 1])), {
    code: 'port_taken',
    message: `port ${first + 1} of 127.0.0.1 is in use (--datastore-ports)`,
  })
  assert.equal(storage.datastores.port(id), 4000)
})
