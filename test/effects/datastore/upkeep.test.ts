// Supervision of a serving datastore: when it counts as lost, when as silent, and when only Docker
// is unavailable.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { keepDatastore } from '../../../src/effects/datastore/upkeep.ts'
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
