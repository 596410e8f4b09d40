// A datastore as services reach it: the values of references, its checks, and its port on the host.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { type TestContext, test } from 'node:test'
import { datastoreProperties } from '../../../src/domain/env-references.ts'
import {
  checkDatastore,
  findDatastore,
  lookUpDatastore,
  maskPassword,
} from '../../../src/effects/datastore/access.ts'
import { choosePort, freePorts } from '../../../src/effects/datastore/start.ts'
import { id, openDatastorePorts, password } from '../../support/effects/datastore-ports.ts'

const signal = new AbortController().signal

test('each property of a Postgres has the form its clients need', async (t) => {
  const { ports } = await openDatastorePorts(t, { kind: 'postgres' })
  const found = datastoreProperties.map((property) => [property, lookUpDatastore(ports, 'shop', property)])
  assert.deepEqual(Object.fromEntries(found), {
    connectionString: `postgresql://ada:${password}@shop:5432/shop`,
    externalConnectionString: `postgresql://ada:${password}@127.0.0.1:25001/shop`,
    host: 'shop',
    port: '5432',
    user: 'ada',
    password,
    database: 'shop',
  })
})

test('a Redis has no database, and without a port no external address', async (t) => {
  const { ports } = await openDatastorePorts(t, { kind: 'redis', host_port: null })
  const found = datastoreProperties.map((property) => [property, lookUpDatastore(ports, 'shop', property)])
  assert.deepEqual(Object.fromEntries(found), {
    connectionString: `redis://default:${password}@shop:6379`,
    externalConnectionString: null,
    host: 'shop',
    port: '6379',
    user: 'default',
    password,
    database: null,
  })
})

test('a wildcard bind address is reached by loopback, and IPv6 addresses have brackets', async (t) => {
  const { ports } = await openDatastorePorts(t, { kind: 'redis' })
  const addresses = ['0.0.0.0', '10.0.0.9', '::', 'fd00::1'].map((datastoreBind) => {
    const bound = { ...ports, settings: { ...ports.settings, datastoreBind } }
    return lookUpDatastore(bound, 'shop', 'externalConnectionString')?.split('@')[1]
  })
  assert.deepEqual(addresses, ['127.0.0.1:25001', '10.0.0.9:25001', '[::1]:25001', '[fd00::1]:25001'])
})

test('unknown names, ids, deleted datastores and unknown properties resolve to nothing', async (t) => {
  const { ports, become } = await openDatastorePorts(t)
  for (const [name, property] of [
    ['nobody', 'host'],
    [id, 'host'],
    ['shop', 'url'],
    ['shop', 'toString'],
    ['shop', 'constructor'],
    ['shop', '__proto__'],
  ] as const) {
    assert.equal(lookUpDatastore(ports, name, property), null, `${name}.${property}`)
  }
  await become({ status: 'deleting' })
  assert.equal(lookUpDatastore(ports, 'shop', 'host'), null)
})

test('a password is redacted from a text at every occurrence', () => {
  const credentials = { username: 'ada', password: 'a.b$&', database: null }
  assert.equal(maskPassword('a.b$& and axb$& and a.b$&', credentials), '*** and axb$& and ***')
})

for (const [what, outcome, expected] of [
  ['what it complains of last', { exitCode: 2, stderr: `one\npsql: no ${password}\n` }, 'psql: no ***'],
  ['its message instead', { exitCode: 0, stdout: 'LOADING Redis is loading\n' }, 'LOADING Redis is loading'],
  ['how it ended, when no output', { exitCode: 3 }, 'it ended with exit code 3'],
  ['that it hangs, of a server that does', { exitCode: 124 }, 'it accepts connections and sends nothing'],
  ['the same, where busybox ends it', { exitCode: 143 }, 'it accepts connections and sends nothing'],
] as const) {
  test(`a server that does not respond is reported by ${what}`, async (t) => {
    const { ports, world } = await openDatastorePorts(t)
    world.run = () => outcome
    assert.equal(await checkDatastore(ports, findDatastore(ports, id), signal), expected)
  })
}

for (const kind of ['postgres', 'redis'] as const) {
  test(`the password of a ${kind} is in the environment of the probe, not its arguments`, async (t) => {
    const { ports, seen } = await openDatastorePorts(t, { kind })

    assert.equal(await checkDatastore(ports, findDatastore(ports, id), signal), null)

    const [{ argv, env } = { argv: [], env: {} }] = seen.commands
    assert.ok(!argv.join(' ').includes(password), argv.join(' '))
    assert.ok(Object.values(env ?? {}).includes(password))
    assert.equal(argv[0], 'timeout')
  })
}

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
