// The chart of a deploy: its paths, its failures, every command in every state, and a restart at every step.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type DeploySnapshot, machine, toRecord, toService } from '../../../machines/deploy/deploy.ts'
import {
  deployInput,
  failure,
  grantedTurn,
  happyEffects,
  happyPath,
  imageInput,
  imagePath,
  instant,
  sha,
  slotOf,
} from '../../support/machines/deploy-chart.ts'
import { forever, type Run, runMachine, type TestEffect } from '../../support/machines/machine-run.ts'
import { toMermaid } from '../../support/machines/mermaid.ts'

const waits: TestEffect = (_, signal) => forever(signal)

/** A run that stops in that state. */
async function runUntil(state: string, changes: Record<string, TestEffect> = {}) {
  const blocked = state === 'failing' ? { buildImage: () => Promise.reject(failure) } : {}
  const effects = happyEffects({ ...blocked, ...changes, [slotOf[state]!]: waits })
  const run = imagePath.slice(1, 3).includes(state)
    ? runImage(effects)
    : runMachine(machine, effects, { input: deployInput() })
  if (state === 'canceling') run.actor.send({ type: 'cancel', at: instant, by: 'Ada' })
  await run.reached(state)
  return run
}

/** A deploy of an image with a pre-deploy command. */
function runImage(effects: Record<string, TestEffect>) {
  const awaitTurn = async () => ({ ...grantedTurn, preDeploy: true })
  return runMachine(machine, { ...effects, awaitTurn }, { input: imageInput() })
}

test('a deploy from git goes through every phase, lives, drains and ends', async () => {
  const run = runMachine(machine, happyEffects(), { input: deployInput() })
  await run.reached('deactivated')
  assert.deepEqual(run.states, happyPath)
  assert.deepEqual(toRecord(run.actor.getSnapshot() as DeploySnapshot), {
    id: 'dep-1',
    service_id: 'svc-1',
    status: 'deactivated',
    phase: null,
    trigger: 'manual',
    source: deployInput().source,
    image: 'berth/shop:dep-1',
    port: 3000,
    port_source: 'default',
    health_check: 'port',
    warnings: [],
    commit_sha: sha,
    commit_message: 'Fix the login',
    error: null,
    error_code: null,
    error_details: null,
    created_at: instant,
    started_at: instant,
    finished_at: instant,
  })
})

test('a deploy replaced by a newer queued one is canceled, and names the newer one', async () => {
  const effects = happyEffects({ awaitTurn: async () => ({ ...grantedTurn, supersededBy: 'dep-2' }) })
  const run = runMachine(machine, effects, { input: deployInput() })
  await run.reached('canceled')
  assert.deepEqual(run.states, ['queued', 'canceling', 'canceled'])
  assert.equal(toRecord(run.actor.getSnapshot() as DeploySnapshot).error, 'superseded by dep-2')
})

for (const state of [...happyPath.slice(0, 6), ...imagePath.slice(1, 3)]) {
  const slot = slotOf[state]!
  test(`when ${slot} fails the deploy removes its traces and is failed, with the reason`, async () => {
    const effects = happyEffects({ [slot]: () => Promise.reject(failure) })
    const isImage = imagePath.slice(1, 3).includes(state)
    const run = isImage ? runImage(effects) : runMachine(machine, effects, { input: deployInput() })
    await run.reached('failed')
    assert.deepEqual(run.states.slice(-3), [state, 'failing', 'failed'])
    const record = toRecord(run.actor.getSnapshot() as DeploySnapshot)
    const phase = state.startsWith('running.') ? state.slice('running.'.length) : null
    assert.deepEqual([record.status, record.phase, record.error], ['failed', phase, failure.message])
  })
}

const limits: [state: string, words: string][] = [
  ['fetching', '10m (--fetch-timeout)'],
  ['pulling', '10m (--fetch-timeout)'],
  ['building', '1h (--build-timeout)'],
  ['preparing', '1h (--build-timeout)'],
  ['starting', '2m (--start-timeout)'],
  ['checking', '5m (--health-timeout)'],
  ['switching', '2m (--start-timeout)'],
]

for (const [phase, words] of limits) {
  test(`${phase} past its deadline reports it, with the limit and its setting`, async () => {
    const slot = slotOf[`running.${phase}`]!
    const timeout = { code: 'timeout', message: `${slot} took longer than its limit`, at: instant }
    const effects = happyEffects({ [slot]: () => Promise.reject(timeout) })
    const isImage = imagePath.includes(`running.${phase}`) && phase !== 'starting'
    const run = isImage ? runImage(effects) : runMachine(machine, effects, { input: deployInput() })
    await run.reached('failed')
    const { error } = toRecord(run.actor.getSnapshot() as DeploySnapshot)
    assert.equal(error, `${phase} took longer than its limit of ${words}`)
  })
}

for (const state of ['live', 'draining', 'failing', 'canceling']) {
  test(`an effect that fails in ${state} is left to the supervisor`, async () => {
    let fail: (() => void) | null = null
    const failing: TestEffect = () => new Promise((_, reject) => (fail = () => reject(failure)))
    const run = await runUntil(state, {})
    run.actor.stop()
    const again = runMachine(machine, happyEffects({ [slotOf[state]!]: failing }), {
      snapshot: run.snapshots.at(-1)!,
    })
    fail!()
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(again.actor.getSnapshot().status, 'error')
  })
}

const commands = [
  { type: 'cancel', at: instant, by: 'Ada' },
  { type: 'instances.reported', at: instant, degraded: true },
] as const

/** The next state for each command in each state; null if the command is not handled, which is reported. */
const commandTargets: Record<string, [cancel: string | null, reported: string | null]> = {
  queued: ['canceling', null],
  'running.fetching': ['canceling', null],
  'running.building': ['canceling', null],
  'running.pulling': ['canceling', null],
  'running.preparing': ['canceling', null],
  'running.starting': ['canceling', null],
  'running.checking': ['canceling', null],
  'running.switching': ['canceling', null],
  live: [null, 'live'],
  draining: [null, null],
  failing: [null, null],
  canceling: [null, null],
}

for (const [state, expected] of Object.entries(commandTargets)) {
  for (const [index, command] of commands.entries()) {
    const outcome = expected[index]
    test(`${command.type} in ${state} ${outcome ? `leads to ${outcome}` : 'is not handled'}`, async () => {
      const run = await runUntil(state, { removeTraces: waits })
      const before = run.actor.getSnapshot()
      run.actor.send(command)
      if (outcome) assert.equal(run.states.at(-1), outcome)
      else assert.equal(run.actor.getSnapshot(), before)
      run.actor.stop()
    })
  }
}

test('leaving a state aborts its effect in the same tick', async () => {
  let aborted = false
  const building: TestEffect = (_, signal) => {
    signal.addEventListener('abort', () => {
      aborted = true
    })
    return forever(signal)
  }
  const run = runMachine(machine, happyEffects({ buildImage: building, removeTraces: waits }), {
    input: deployInput(),
  })
  await run.reached('running.building')
  run.actor.send({ type: 'cancel', at: instant, by: 'Ada' })
  assert.equal(aborted, true)
})

test('from every snapshot of its life a fresh actor reaches the same end', async () => {
  const whole = runMachine(machine, happyEffects(), { input: deployInput() })
  await whole.reached('deactivated')
  const end = toRecord(whole.actor.getSnapshot() as DeploySnapshot)
  const alive = whole.snapshots.filter(({ status }) => status === 'active')
  assert.equal(alive.length, 8)
  for (const [index, snapshot] of alive.entries()) {
    const run = runMachine(machine, happyEffects(), { snapshot })
    await run.reached('deactivated')
    assert.deepEqual(toRecord(run.actor.getSnapshot() as DeploySnapshot), end)
    assert.deepEqual(run.started, whole.started.slice(index))
  }
})

/** Records the service patch of each later transition. */
function recordServicePatches(run: Run): unknown[] {
  const reported: unknown[] = []
  let before: DeploySnapshot | null = null
  run.actor.subscribe((snapshot) => {
    const written = toService(snapshot as DeploySnapshot, before)
    if (written) reported.push(written)
    before = snapshot as DeploySnapshot
  })
  return reported
}

test('the service learns its desired deploy before the switch, and its live one with `live`', async () => {
  const run = runMachine(machine, happyEffects({ keepInstances: waits }), { input: deployInput() })
  const reported = recordServicePatches(run)
  await run.reached('live')
  run.actor.send({ type: 'instances.reported', at: instant, degraded: true })
  assert.deepEqual(reported, [
    { desired_deploy_id: 'dep-1' },
    { live_deploy_id: 'dep-1', desired_deploy_id: 'dep-1', degraded: false },
    { degraded: true, while_live: 'dep-1' },
  ])
})

for (const [exclusive, claims] of [
  [false, 1],
  [true, 4],
] as const) {
  test(`a cancel while switching restores the service (disk: ${exclusive})`, async () => {
    const turn = async () => ({ ...grantedTurn, exclusive })
    const run = runMachine(machine, happyEffects({ awaitTurn: turn, switchTraffic: waits }), {
      input: deployInput(),
    })
    const reported = recordServicePatches(run)
    await run.reached('running.switching')
    run.actor.send({ type: 'cancel', at: instant, by: 'Ada' })
    await run.reached('canceled')
    const claim = { desired_deploy_id: 'dep-1' }
    assert.deepEqual(reported, [...Array(claims).fill(claim), { desired_deploy_id: 'dep-0' }])
  })
}

test('the chart matches the reviewed chart', () => {
  const golden = readFileSync(new URL('../../fixtures/charts/deploy.mmd', import.meta.url), 'utf8')
  assert.equal(toMermaid(machine), golden)
})

test('a deploy is live on the detected port', async () => {
  const found = { at: instant, port: 8000, portSource: 'detected', healthCheck: 'port' }
  const run = runMachine(machine, happyEffects({ probeInstances: async () => found }), {
    input: deployInput(),
  })
  await run.reached('live')
  const { port, port_source } = toRecord(run.actor.getSnapshot() as DeploySnapshot)
  assert.deepEqual([port, port_source], [8000, 'detected'])
})
