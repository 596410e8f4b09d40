// The chart of the edge: started, reconciled, restarted after every failure, stopped only on request.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type EdgeInput, type EdgeSnapshot, machine, migrate, toRecord } from '../../machines/edge.ts'
import { instant } from '../support/machines/deploy-chart.ts'
import { forever, type Run, runMachine, type TestEffect, waits } from '../support/machines/machine-run.ts'

const input: EdgeInput = { id: 'edge', mode: 'container', httpPort: 80, httpsPort: 443, at: instant }
const later = '2026-01-02T00:00:00.000Z'
const upgrade = { type: 'upgrade', at: instant, force: true }
const off = { type: 'configure', at: instant, mode: 'off', httpPort: 80, httpsPort: 443 }
const succeeds: TestEffect = async () => ({ at: instant })
const lost = { code: 'edge_unavailable', message: 'HAProxy does not respond', at: instant }
const fails: TestEffect = () => Promise.reject(lost)
const starts: TestEffect = async () => ({ at: instant, generation: 1 })
const replaces: TestEffect = async ({ generation }) => ({
  at: later,
  generation: (generation as number) + 1,
  hasReplaced: true,
})
const serving = {
  startEdge: starts,
  keepRoutes: waits,
  upgradeEdge: replaces,
  stopEdge: succeeds,
  sleepUntil: waits,
}

const recordOf = ({ actor }: Run) => toRecord(actor.getSnapshot() as EdgeSnapshot)
const failingTimes = (times: number, then: TestEffect): TestEffect => {
  let left = times
  return (effectInput, signal) => (left-- > 0 ? fails(effectInput, signal) : then(effectInput, signal))
}

test('an edge is started and then kept in line with its routes', async () => {
  const run = runMachine(machine, serving, { input })
  await run.reached('serving')
  assert.deepEqual(run.states, ['starting', 'serving'])
  assert.deepEqual(run.started, ['startEdge', 'keepRoutes'])
  assert.deepEqual(recordOf(run), {
    id: 'edge',
    status: 'serving',
    mode: 'container',
    http_port: 80,
    https_port: 443,
    routes: null,
    error: null,
    error_code: null,
    version: null,
    image: null,
    available: null,
    upgrade_error: null,
    upgraded_at: null,
    serving_since: instant,
    next_attempt_at: null,
    created_at: instant,
  })
  run.actor.stop()
})

test('a problem of the public ports is shown while it serves, and cleared by a new start', async () => {
  const run = runMachine(machine, serving, { input })
  await run.reached('serving')
  const problem = { code: 'port_shared', message: 'another program responds on port 80' }
  run.actor.send({ type: 'ports.checked', at: later, problem })
  const view = recordOf(run)
  assert.deepEqual([view.status, view.error, view.error_code], ['serving', problem.message, problem.code])
  run.actor.send({ type: 'ports.checked', at: later, problem: null })
  assert.deepEqual([recordOf(run).error, recordOf(run).error_code], [null, null])
  run.actor.send({ type: 'ports.checked', at: later, problem })
  run.actor.send({ type: 'configure', at: later, mode: 'host', httpPort: 81, httpsPort: 443 })
  await run.reached('serving')
  assert.deepEqual([recordOf(run).status, recordOf(run).error_code], ['serving', null])
  run.actor.stop()
})

test('an edge that cannot start shows the reason and the next try, later each time', async () => {
  const pauses: number[] = []
  const sleepUntil: TestEffect = async (effectInput, signal) => {
    pauses.push((effectInput.wakeAt as number) - Date.parse(instant))
    return pauses.length < 9 ? { at: instant } : forever(signal)
  }
  const run = runMachine(machine, { ...serving, startEdge: fails, sleepUntil }, { input })
  while (pauses.length < 9) await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(pauses, [250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000])
  const { status, error, next_attempt_at } = recordOf(run)
  assert.deepEqual([status, error], ['waiting', 'HAProxy does not respond'])
  assert.equal(Date.parse(next_attempt_at!) - Date.parse(instant), 15_000)
  run.actor.stop()
})

test('an edge that dies while it serves is restarted immediately, and the problem is cleared', async () => {
  const run = runMachine(machine, { ...serving, keepRoutes: failingTimes(1, waits) }, { input })
  while (run.started.length < 4) await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(run.started, ['startEdge', 'keepRoutes', 'startEdge', 'keepRoutes'])
  const { status, error, next_attempt_at } = recordOf(run)
  assert.deepEqual([status, error, next_attempt_at], ['serving', null, null])
  run.actor.stop()
})

for (const state of ['starting', 'serving', 'upgrading', 'waiting'] as const) {
  test(`while ${state} the edge can be switched off, and stays off`, async () => {
    const blocked = {
      starting: { startEdge: waits },
      serving: {},
      upgrading: { upgradeEdge: waits },
      waiting: { startEdge: fails },
    }[state]
    const run = runMachine(machine, { ...serving, ...blocked }, { input })
    if (state === 'upgrading') {
      await run.reached('serving')
      run.actor.send(upgrade)
    }
    await run.reached(state)
    run.actor.send(off)
    await run.reached('off')
    assert.equal(run.started.at(-1), 'stopEdge')
    const { status, mode, serving_since } = recordOf(run)
    assert.deepEqual([status, mode, serving_since], ['off', 'off', null])
    run.actor.stop()
  })
}

test('other ports or another mode restart it, the same ones change nothing', async () => {
  const run = runMachine(machine, serving, { input })
  await run.reached('serving')
  const same = run.actor.getSnapshot()
  run.actor.send({ ...off, mode: 'container' })
  assert.equal(run.actor.getSnapshot(), same)
  run.actor.send({ ...off, mode: 'host', httpPort: 8080 })
  assert.deepEqual(
    [recordOf(run).status, recordOf(run).mode, recordOf(run).http_port],
    ['starting', 'host', 8080],
  )
  run.actor.stop()
})

test('a disabled edge comes back when it is enabled again', async () => {
  const run = runMachine(machine, serving, { input })
  run.actor.send(off)
  await run.reached('off')
  run.actor.send({ ...off, mode: 'host' })
  while (recordOf(run).status !== 'serving') await new Promise((resolve) => setImmediate(resolve))
  assert.equal(recordOf(run).mode, 'host')
  run.actor.stop()
})

test('its routes are shown as reported, and only while it serves', async () => {
  const run = runMachine(machine, serving, { input })
  await run.reached('serving')
  const routes = { services: 2, hosts: 3, ready: 4 }
  run.actor.send({ type: 'routes.applied', at: instant, routes })
  assert.deepEqual(recordOf(run).routes, routes)
  run.actor.send(off)
  await run.reached('off')
  run.actor.send({ type: 'routes.applied', at: instant, routes })
  assert.equal(recordOf(run).routes, null)
  run.actor.stop()
})

test('an upgrade starts with the running generation, and ends with the next one', async () => {
  const inputs: unknown[] = []
  const upgradeEdge: TestEffect = (effectInput, signal) => {
    inputs.push(effectInput)
    return replaces(effectInput, signal)
  }
  const run = runMachine(machine, { ...serving, upgradeEdge }, { input })
  await run.reached('serving')
  for (const _ of [1, 2]) {
    run.actor.send(upgrade)
    while (recordOf(run).status !== 'serving') await new Promise((resolve) => setImmediate(resolve))
  }
  assert.deepEqual(inputs, [
    { id: 'edge', generation: 1, force: true },
    { id: 'edge', generation: 2, force: true },
  ])
  const { upgraded_at, upgrade_error, serving_since } = recordOf(run)
  assert.deepEqual([upgraded_at, upgrade_error, serving_since], [later, null, instant])
  run.actor.stop()
})

test('a failed upgrade shows the reason, and the previous edge is found and kept', async () => {
  const run = runMachine(machine, { ...serving, upgradeEdge: fails }, { input })
  await run.reached('serving')
  run.actor.send(upgrade)
  while (recordOf(run).status !== 'serving') await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(run.states, ['starting', 'serving', 'upgrading', 'starting', 'serving'])
  const { upgrade_error, upgraded_at, error } = recordOf(run)
  assert.deepEqual([upgrade_error, upgraded_at, error], ['HAProxy does not respond', null, null])
  run.actor.send(upgrade)
  assert.equal(recordOf(run).upgrade_error, null)
  run.actor.stop()
})

test('the running and the available version are shown as compared', async () => {
  const run = runMachine(machine, serving, { input })
  await run.reached('serving')
  const [software, available] = [
    { version: '2.6.12', image: 'old' },
    { version: '3.2.24', image: 'new' },
  ]
  run.actor.send({ type: 'software.compared', at: instant, software, available })
  const record = recordOf(run)
  assert.deepEqual([record.version, record.image, record.available], ['2.6.12', 'old', available])
  run.actor.stop()
})

test('a snapshot from before upgrades is the first generation', async () => {
  const run = runMachine(machine, serving, { input })
  await run.reached('serving')
  const snapshot = run.snapshots.at(-1) as unknown as { context: Record<string, unknown> }
  const names = ['generation', 'software', 'available', 'force', 'upgradeError', 'upgradedAt']
  for (const name of names) delete snapshot.context[name]
  const restored = runMachine(machine, serving, { snapshot: migrate(snapshot, 1) as never })
  assert.deepEqual([recordOf(restored).status, recordOf(restored).available], ['serving', null])
  restored.actor.send(upgrade)
  while (recordOf(restored).upgraded_at === null) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(recordOf(restored).status, 'serving')
  restored.actor.stop()
  run.actor.stop()
})

test('from every snapshot a fresh actor serves again', async () => {
  const whole = runMachine(
    machine,
    { ...serving, startEdge: failingTimes(1, starts), sleepUntil: succeeds },
    { input },
  )
  await whole.reached('serving')
  assert.deepEqual(whole.states, ['starting', 'waiting', 'starting', 'serving'])
  for (const snapshot of whole.snapshots) {
    const run = runMachine(machine, { ...serving, sleepUntil: succeeds }, { snapshot })
    await run.reached('serving')
    assert.equal(recordOf(run).error, null)
    run.actor.stop()
  }
  whole.actor.stop()
})
