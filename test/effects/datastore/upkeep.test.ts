// Supervision of a serving datastore: when it counts as lost, when as silent, and how it gets its limits.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { findCappedLimit } from '../../../src/effects/datastore/access.ts'
import { keepDatastore, setContainerLimits } from '../../../src/effects/datastore/upkeep.ts'
import { Failure } from '../../../src/errors.ts'
import { id, openDatastorePorts, password, up, well } from '../../support/effects/datastore-ports.ts'
import { eventually } from '../../support/supervisor/supervision.ts'

type Site = Awaited<ReturnType<typeof openDatastorePorts>>
const away = () => {
  throw new Failure('docker_unavailable', 'Docker does not respond')
}

/** Supervises until the test ends or the datastore is lost; `lost` resolves with the reason. */
function keep(t: TestContext, { ports }: Site) {
  const end = new AbortController()
  t.after(() => end.abort())
  const kept = keepDatastore(ports, { id }, end.signal)
  kept.catch(() => undefined)
  return { kept, end }
}

/** Resolves after that many inspections of the container. */
async function looks({ world }: Site, count: number): Promise<void> {
  const { inspect } = world
  let seen = 0
  world.inspect = () => {
    seen += 1
    return inspect()
  }
  await eventually(`${count} looks`, () => seen >= count)
}

for (const [what, found, message] of [
  ['is gone', null, 'its container no longer exists'],
  ['was stopped', { state: 'exited', exitCode: 0 }, /^it .*: FATAL: it said \*\*\*$/],
  ['was killed', { state: 'exited', exitCode: 137 }, /^it .*: FATAL: it said \*\*\*$/],
  ['is paused', { state: 'paused' }, 'its container is paused: docker unpause berth-datastore-shop'],
] as const) {
  test(`a datastore whose container ${what} is lost immediately, with the reason`, async (t) => {
    const site = await openDatastorePorts(t)
    await site.serve()
    const { kept } = keep(t, site)
    await looks(site, 2)

    site.world.inspect = () => found && { ...up, startedAt: null, oomKilled: false, ...found }

    const { servedMs, ...loss } = await kept
    assert.equal(loss.code, 'datastore_failed')
    if (typeof message === 'string') assert.equal(loss.message, message)
    else assert.match(loss.message, message)
    assert.ok(!loss.message.includes(password))
    assert.ok(servedMs >= 0)
  })
}

test('a datastore that accepts connections is kept while Docker is down', async (t) => {
  const site = await openDatastorePorts(t)
  await site.serve()
  site.world.run = away
  keep(t, site)
  await looks(site, 12)
  site.world.inspect = away

  await looks(site, 25)

  assert.ok(site.seen.commands.length >= 2, 'it was asked')
})

test('a datastore that refuses connections is lost after three tries', async (t) => {
  const site = await openDatastorePorts(t)
  const close = await site.serve()
  const { kept } = keep(t, site)
  await looks(site, 3)

  await close()

  assert.match((await kept).message, /^it does not respond: connect ECONNREFUSED 127\./)
})

test('a datastore that refuses connections is lost even while Docker is down', async (t) => {
  const site = await openDatastorePorts(t)
  site.world.inspect = away
  const { kept } = keep(t, site)
  assert.match((await kept).message, /^it does not respond: connect ECONNREFUSED 127\./)
})

test('a datastore that accepts connections but never responds is lost after three probes', async (t) => {
  const site = await openDatastorePorts(t)
  await site.serve()
  site.world.run = () => ({ exitCode: 143 })

  const { message } = await keep(t, site).kept

  assert.equal(message, 'it does not respond: it accepts connections and sends nothing')
  assert.equal(site.seen.commands.length, 3)
})

test('one successful probe resets two failed ones', async (t) => {
  const site = await openDatastorePorts(t)
  await site.serve()
  let requested = 0
  site.world.run = () => (++requested % 3 === 0 ? well('redis') : { exitCode: 1, stderr: 'busy' })
  const { kept } = keep(t, site)

  await eventually('nine questions', () => requested >= 9)

  assert.equal(await Promise.race([kept, 'kept']), 'kept')
})

test('the restart policy of Docker is active from the first check on', async (t) => {
  const site = await openDatastorePorts(t)
  await site.serve()
  let restart: 'no' | 'unless-stopped' = 'no'
  site.world.inspect = () => ({ ...up, restart })
  keep(t, site)
  await eventually('the policy', () => site.seen.restarts.length > 0)
  restart = 'unless-stopped'
  await looks(site, 3)
  assert.deepEqual([...new Set(site.seen.restarts)], ['unless-stopped'])
})

const refused = { code: 'docker_error', message: 'no' }
const missed = { code: 'docker_unavailable', message: 'Docker does not respond' }
for (const [what, fields, found, isGiven] of [
  ['as they should be', {}, {}, false],
  ['too small', { memory_limit_mb: 1024 }, {}, true],
  ['of fewer CPUs', { cpu_limit: 2 }, {}, true],
  ['of more CPUs', { cpu_limit: 0.5 }, { cpuLimit: 2 }, true],
  ['all that the host has', { cpu_limit: 64 }, { cpuLimit: 2 }, false],
  ['refused', { memory_limit_mb: 1024, limits: { revision: 2, settled: 2, trouble: refused } }, {}, false],
  [
    'set while Docker was away',
    { cpu_limit: 2, limits: { revision: 2, settled: 2, trouble: missed } },
    {},
    true,
  ],
  [
    'being applied by others',
    { cpu_limit: 2, limits: { revision: 2, settled: 1, trouble: null } },
    {},
    false,
  ],
] as const) {
  test(`limits that are ${what} are ${isGiven ? 'applied' : 'left alone'}`, async (t) => {
    const site = await openDatastorePorts(t, fields)
    await site.serve()
    site.world.run = () => ({ stdout: 'OK' })
    site.world.inspect = () => ({ ...up, ...found })
    keep(t, site)

    await looks(site, 3)

    assert.equal(site.seen.limits.length > 0, isGiven)
  })
}

test('limits that the engine refuses do not mark the datastore as lost', async (t) => {
  const site = await openDatastorePorts(t, { memory_limit_mb: 1024 })
  await site.serve()
  site.world.limit = () => {
    throw new Failure('docker_error', 'no')
  }
  const { kept } = keep(t, site)
  await looks(site, 5)
  assert.ok(site.seen.limits.length > 1, 'they are tried again')
  assert.equal(await Promise.race([kept, 'kept']), 'kept')
})

test('a datastore that is no longer wanted is released immediately, with the reason', async (t) => {
  const site = await openDatastorePorts(t)
  await site.serve()
  const { kept, end } = keep(t, site)
  await looks(site, 2)

  end.abort(new Failure('canceled', 'it is deleted'))

  await assert.rejects(kept, { code: 'canceled' })
})

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
