// The chart of a datastore: created, supervised, restarted, removed only on request; limits change
// in any state.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { machine } from '../../../machines/datastore/datastore.ts'
import {
  fails,
  losing,
  once,
  path,
  recordOf,
  start,
  starts,
  succeeds,
  turn,
  waits,
  working,
} from '../../support/machines/datastore-chart.ts'
import { instant } from '../../support/machines/deploy-chart.ts'
import { forever, runMachine, type TestEffect } from '../../support/machines/machine-run.ts'
import { toMermaid } from '../../support/machines/mermaid.ts'

test('a datastore is pulled, started, probed, and then kept', async () => {
  const run = start()
  await run.reached(path('available'))
  assert.deepEqual(
    run.states,
    ['starting.pulling', 'starting.starting', 'starting.probing', 'available'].map((life) => path(life)),
  )
  assert.deepEqual(recordOf(run), {
    id: 'dst-1',
    name: 'shop-db',
    kind: 'postgres',
    version: '17',
    status: 'available',
    phase: null,
    error: null,
    error_code: null,
    error_details: null,
    notice: null,
    database: 'shop_db',
    username: 'shop_db',
    host_port: 25_001,
    memory_limit_mb: 256,
    cpu_limit: null,
    limits: { revision: 1, settled: 1, trouble: null },
    backup_schedule: null,
    backup_keep: 7,
    backups_since: instant,
    trash: null,
    upgrade: null,
    former: null,
    deleting: false,
    failures: 0,
    next_attempt_at: null,
    created_at: instant,
    updated_at: instant,
  })
  run.actor.stop()
})

for (const slot of ['obtainImage', 'startDatastore', 'awaitAnswer']) {
  test(`a datastore whose ${slot} fails has the reason, and stays failed during retries`, async () => {
    const run = start({ [slot]: once(fails, waits), awaitRetry: once(succeeds, waits) })
    await run.reached(path('failed'))
    while (run.started.filter((name) => name === slot).length < 2) await turn()
    const { status, error, phase } = recordOf(run)
    const phases = { obtainImage: 'pulling', startDatastore: 'starting', awaitAnswer: 'probing' }
    assert.deepEqual([status, error, phase], ['failed', 'no space left', phases[slot as keyof typeof phases]])
    run.actor.stop()
  })
}

test('the first failure is retried immediately, later ones after increasing pauses', async () => {
  const pauses: number[] = []
  const awaitRetry: TestEffect = async (effectInput, signal) => {
    pauses.push(((effectInput.wakeAt as number) - Date.parse(instant)) / 1000)
    return pauses.length < 11 ? { at: instant } : forever(signal)
  }
  const run = start({ startDatastore: fails, awaitRetry })
  while (pauses.length < 11) await turn()
  assert.deepEqual(pauses, [0, 1, 3, 7, 15, 31, 63, 127, 255, 300, 300])
  run.actor.stop()
})

test('only a datastore that was never available is recreated after a failure', async () => {
  const requests: unknown[] = []
  const startDatastore: TestEffect = async ({ isAfresh }) => {
    requests.push(isAfresh)
    return requests.length === 1
      ? fails({}, new AbortController().signal)
      : starts({}, new AbortController().signal)
  }
  const run = start({
    startDatastore,
    awaitRetry: succeeds,
    keepDatastore: once(losing(10), once(losing(90_000), waits)),
  })
  while (requests.length < 4) await turn()
  assert.deepEqual(requests, [false, true, false, false])
  run.actor.stop()
})

test('a restart also recreates a datastore that was never available', async () => {
  const requests: unknown[] = []
  const startDatastore: TestEffect = async ({ isAfresh }, signal) => {
    requests.push(isAfresh)
    return requests.length === 1 ? starts({}, signal) : forever(signal)
  }
  const run = start({ startDatastore, awaitAnswer: fails })
  await run.reached(path('failed'))
  run.actor.send({ type: 'restart', at: instant, by: 'the API' })
  while (requests.length < 2) await turn()
  assert.deepEqual(requests, [false, true])
  run.actor.stop()
})

test('a datastore lost after a long time is restarted immediately, without counting a failure', async () => {
  const run = start({ keepDatastore: once(losing(60_000), waits) })
  while (run.started.filter((name) => name === 'keepDatastore').length < 2) await turn()
  assert.ok(!run.started.includes('awaitRetry'))
  assert.deepEqual([recordOf(run).status, recordOf(run).failures], ['available', 0])
  run.actor.stop()
})

test('while it is recovered its status is restarting, not created', async () => {
  const run = start({ keepDatastore: losing(60_000), awaitAnswer: once(succeeds, waits) })
  while (run.started.filter((name) => name === 'awaitAnswer').length < 2) await turn()
  assert.deepEqual([recordOf(run).status, recordOf(run).phase], ['restarting', 'probing'])
  run.actor.stop()
})

test('a datastore that dies repeatedly is retried later each time, with the reason', async () => {
  const run = start({ keepDatastore: losing(10), awaitRetry: once(succeeds, once(succeeds, waits)) })
  while (run.started.filter((name) => name === 'awaitRetry').length < 3) await turn()
  const { status, error, failures } = recordOf(run)
  assert.deepEqual([status, error, failures], ['failed', 'its container no longer exists', 3])
  run.actor.stop()
})

for (const [where, effects] of Object.entries({
  'starting.pulling': { obtainImage: waits },
  'starting.probing': { awaitAnswer: waits },
  available: {},
  failed: { startDatastore: fails },
})) {
  test(`while ${where} a datastore can be restarted, which clears earlier failures`, async () => {
    const run = start({ ...effects, stopDatastore: waits })
    await run.reached(path(where))
    run.actor.send({ type: 'restart', at: instant, by: 'the API' })
    const { status, phase, error, failures } = recordOf(run)
    const expected = where === 'available' ? 'restarting' : 'creating'
    assert.deepEqual([status, phase, error, failures], [expected, 'stopping', null, 0])
    run.actor.stop()
  })

  test(`while ${where} a datastore accepts new limits and continues`, async () => {
    const applied: unknown[] = []
    const applyLimits: TestEffect = async ({ memoryMb, cpus }) => {
      applied.push([memoryMb, cpus])
      return { at: instant, notice: 'held to 2' }
    }
    const run = start({ ...effects, applyLimits })
    await run.reached(path(where))
    run.actor.send({ type: 'limits.set', at: instant, by: 'the API', cpus: 4 })
    run.actor.send({ type: 'limits.set', at: instant, by: 'the API', memoryMb: null })
    while (recordOf(run).limits.settled < 3) await turn()
    const { memory_limit_mb, cpu_limit, notice, limits } = recordOf(run)
    assert.deepEqual([memory_limit_mb, cpu_limit, notice], [null, 4, 'held to 2'])
    assert.deepEqual(limits, { revision: 3, settled: 3, trouble: null })
    assert.deepEqual(applied.at(-1), [null, 4])
    assert.equal(run.states.at(-1), path(where))
    run.actor.stop()
  })

  test(`while ${where} a datastore can be deleted`, async () => {
    const run = start(effects)
    await run.reached(path(where))
    run.actor.send({ type: 'delete', at: instant, by: 'the API' })
    assert.equal(recordOf(run).status, 'deleting')
    await run.reached('deleted')
    assert.deepEqual([recordOf(run).status, run.started.at(-1)], ['deleted', 'removeDatastore'])
  })
}

test('refused limits stay as configured, with the reason', async () => {
  const run = start({ applyLimits: once(fails, working.applyLimits!) })
  await run.reached(path('available'))
  run.actor.send({ type: 'limits.set', at: instant, by: 'the API', memoryMb: 16 })
  while (recordOf(run).limits.settled < 2) await turn()
  const trouble = { code: 'datastore_failed', message: 'no space left' }
  assert.deepEqual(recordOf(run).limits, { revision: 2, settled: 2, trouble })
  assert.equal(recordOf(run).memory_limit_mb, 16)
  run.actor.send({ type: 'limits.set', at: instant, by: 'the API' })
  while (recordOf(run).limits.settled < 3) await turn()
  assert.deepEqual(recordOf(run).limits, { revision: 3, settled: 3, trouble: null })
  run.actor.stop()
})

test('a datastore that is being deleted accepts neither limits nor a restart', async () => {
  const run = start({ removeDatastore: waits })
  await run.reached(path('available'))
  run.actor.send({ type: 'delete', at: instant, by: 'the API' })
  const before = run.actor.getSnapshot()
  run.actor.send({ type: 'restart', at: instant, by: 'the API' })
  run.actor.send({ type: 'limits.set', at: instant, by: 'the API', memoryMb: 16 })
  assert.equal(run.actor.getSnapshot(), before)
  run.actor.stop()
})

test('from every snapshot a fresh actor becomes available', async () => {
  const whole = start()
  await whole.reached(path('available'))
  whole.actor.stop()
  for (const snapshot of whole.snapshots) {
    const again = runMachine(machine, working, { snapshot })
    while (recordOf(again).status !== 'available') await turn()
    again.actor.stop()
  }
})

test('the chart matches the reviewed chart', () => {
  const golden = new URL('../../fixtures/charts/datastore.mmd', import.meta.url)
  assert.equal(toMermaid(machine), readFileSync(golden, 'utf8'))
})
