// Applying limits to a datastore's container: the newest ones win, Redis gets its share, and the reason of a
// refusal does not contain the password.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findCappedLimit } from '../../../src/effects/datastore/access.ts'
import { setContainerLimits } from '../../../src/effects/datastore/upkeep.ts'
import { Failure } from '../../../src/errors.ts'
import { id, openDatastorePorts, password, up } from '../../support/effects/datastore-ports.ts'
import { eventually } from '../../support/supervisor/supervision.ts'

const signal = new AbortController().signal
const settled = (revision: number) => ({ revision, settled: revision, trouble: null })
const ok = { stdout: 'OK\n' }
const limits = (memoryLimitMb: number, cpuLimit: number) => ({ memoryLimitMb, cpuLimit, pidsLimit: 64 })

test('configured limits or the default apply; exceeding the CPUs of the host is reported', async (t) => {
  const { ports, world, seen, become } = await openDatastorePorts(t)
  world.run = () => ok
  assert.equal(await setContainerLimits(ports, id, signal), null)
  await become({ memory_limit_mb: 64, cpu_limit: 2, limits: settled(2) })
  assert.equal(await setContainerLimits(ports, id, signal), null)
  await become({ cpu_limit: 2.5, limits: settled(3) })
  assert.equal(
    await setContainerLimits(ports, id, signal),
    'the host has 2 CPUs: the CPU limit of 2.5 is capped at 2',
  )
  assert.deepEqual(seen.limits, [limits(512, 1), limits(64, 2), limits(64, 2.5)])
})

test('a host with one CPU is described correctly', () => {
  assert.equal(
    findCappedLimit(limits(64, 2), { cpus: 1 }),
    'the host has 1 CPU: the CPU limit of 2 is capped at 1',
  )
  assert.equal(findCappedLimit(limits(64, 1), { cpus: 1 }), null)
})

test('limits changed while others are being applied are applied after them', async (t) => {
  const { ports, world, seen, become } = await openDatastorePorts(t)
  world.run = () => ok
  const changes = [
    { memory_limit_mb: 64, limits: { ...settled(1), revision: 2 } },
    { memory_limit_mb: 128, limits: { ...settled(1), revision: 3 } },
  ]
  const { limit } = ports.datastores
  ports.datastores.limit = async (...requested) => {
    const change = changes.shift()
    if (change) await become(change)
    return limit(...requested)
  }

  await setContainerLimits(ports, id, signal)

  assert.deepEqual(
    seen.limits.map(({ memoryLimitMb }) => memoryLimitMb),
    [512, 64, 128],
  )
})

test('two concurrent changes end with the newest, whichever is slower', async (t) => {
  const { ports, world, seen, become } = await openDatastorePorts(t)
  world.run = () => ok
  let go = () => {}
  const held = new Promise<void>((resolve) => {
    go = resolve
  })
  const { limit } = ports.datastores
  let isFirst = true
  ports.datastores.limit = async (...requested) => {
    if (isFirst) {
      isFirst = false
      await held
    }
    return limit(...requested)
  }

  const slow = setContainerLimits(ports, id, signal)
  await become({ memory_limit_mb: 256, limits: { ...settled(1), revision: 2 } })
  await setContainerLimits(ports, id, signal)
  go()
  await slow

  assert.deepEqual(
    seen.limits.map(({ memoryLimitMb }) => memoryLimitMb),
    [256, 512, 256],
  )
})

test('Redis gets three quarters of its memory as its own limit; Postgres gets none', async (t) => {
  const redis = await openDatastorePorts(t, { kind: 'redis', memory_limit_mb: 100 })
  redis.world.run = () => ok
  const postgres = await openDatastorePorts(t, { kind: 'postgres', memory_limit_mb: 100 })

  await setContainerLimits(redis.ports, id, signal)
  await setContainerLimits(postgres.ports, id, signal)

  const [{ argv, env } = { argv: [] as string[], env: {} }, ...more] = redis.seen.commands
  assert.deepEqual(argv.slice(-4), ['config', 'set', 'maxmemory', String(75 * 2 ** 20)])
  assert.deepEqual([env, more, postgres.seen.commands], [{ REDISCLI_AUTH: password }, [], []])
})

test('a stopped datastore gets its limits at its start', async (t) => {
  const { ports, world, seen } = await openDatastorePorts(t)
  world.limit = () => false
  assert.equal(await setContainerLimits(ports, id, signal), null)
  world.limit = () => true
  for (const found of [null, { ...up, state: 'exited' as const }]) {
    world.inspect = () => found
    assert.equal(await setContainerLimits(ports, id, signal), null)
  }
  assert.deepEqual(seen.commands, [])
})

for (const stdout of [
  'LOADING Redis is loading the dataset in memory',
  'Could not connect: Connection refused',
]) {
  test(`a starting Redis is left to read its limit: ${stdout}`, async (t) => {
    const { ports, world } = await openDatastorePorts(t)
    world.run = () => ({ exitCode: 1, stdout })
    assert.equal(await setContainerLimits(ports, id, signal), null)
  })
}

for (const [what, outcome, message] of [
  ['its own words', { stdout: `ERR no ${password} here\n` }, 'ERR no *** here'],
  ['what went wrong', { exitCode: 1, stderr: 'AUTH failed' }, 'AUTH failed'],
  ['its silence', { exitCode: 143 }, 'it does not respond'],
] as const) {
  test(`a Redis that rejects its limit fails the change with ${what}`, async (t) => {
    const { ports, world } = await openDatastorePorts(t)
    world.run = () => outcome
    await assert.rejects(setContainerLimits(ports, id, signal), { code: 'docker_error', message })
  })
}

test('a refusal by the engine is passed on unchanged', async (t) => {
  const { ports } = await openDatastorePorts(t)
  ports.datastores.limit = () => Promise.reject(new Failure('docker_error', 'Minimum memory limit is 6MB'))
  await assert.rejects(setContainerLimits(ports, id, signal), {
    code: 'docker_error',
    message: /Minimum memory/,
  })
})

test('a container that disappears during the change is not found', async (t) => {
  const { ports, storage } = await openDatastorePorts(t)
  await storage.datastores.remove(id)
  await eventually('it to be gone', () => storage.datastores.idOf('shop') === null)
  await assert.rejects(setContainerLimits(ports, id, signal), { code: 'not_found' })
})
