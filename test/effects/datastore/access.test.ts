// A datastore as services reach it: the values of references, its checks, and its port on the host.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { datastoreProperties } from '../../../src/domain/env-references.ts'
import {
  checkDatastore,
  findDatastore,
  lookUpDatastore,
  maskPassword,
} from '../../../src/effects/datastore/access.ts'
import { choosePort } from '../../../src/effects/datastore/start.ts'
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

const first = 25_000

test('a port of another datastore, or one that Docker refused, is not chosen', async (t) => {
  const { ports, storage } = await openDatastorePorts(t)
  ports.settings.datastorePorts = { first, last: first + 11 }
  for (let index = 0; index < 10; index++) {
    const other = `dst-other-${index}`
    await storage.commit(() => storage.datastores.insert(other, `other-${index}`, password))
    await storage.datastores.movePort(other, [first + index])
  }

  assert.equal(await choosePort(ports, id, new Set([first + 10])), first + 11)

  assert.equal(storage.datastores.port(id), first + 11)
})

test('when every port is in use the error names the range, and the current port is kept', async (t) => {
  const { ports, storage } = await openDatastorePorts(t)
  ports.settings.datastorePorts = { first, last: first + 1 }
  await storage.datastores.movePort(id, [4000])

  await assert.rejects(choosePort(ports, id, new Set([first, first + 1])), {
    code: 'port_taken',
    message: `every port from ${first} to ${first + 1} of 127.0.0.1 is in use (--datastore-ports)`,
  })
  ports.settings.datastorePorts = { first, last: first }
  await assert.rejects(choosePort(ports, id, new Set([first])), {
    code: 'port_taken',
    message: `port ${first} of 127.0.0.1 is in use (--datastore-ports)`,
  })
  assert.equal(storage.datastores.port(id), 4000)
})
