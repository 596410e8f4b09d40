// The chart of a deploy: its paths, its failures, and a restart at every step.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type DeploySnapshot,
  machine,
  migrate,
  toRecord,
  toService,
} from '../../../machines/deploy/deploy.ts'
import type { DeployInput } from '../../../machines/deploy/deploy-context.ts'
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
import {
  forever,
  pathOf,
  type Run,
  runMachine,
  type TestEffect,
  waits,
} from '../../support/machines/machine-run.ts'

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
    deadline_at: null,
  })
})

test('a running phase has a deadline, and a build only once it has a build slot', async () => {
  const run = runMachine(machine, happyEffects({ buildImage: waits }), { input: deployInput() })
  const deadlines = () => toRecord(run.actor.getSnapshot() as DeploySnapshot).deadline_at
  await run.reached('running.building')

  const seen = [deadlines()]
  for (const type of ['build.started', 'build.queued', 'build.started']) {
    run.actor.send({ type, at: instant })
    seen.push(deadlines())
  }
  run.actor.send({ type: 'cancel', at: instant, by: 'Ada' })
  seen.push(deadlines())

  const inAnHour = '2026-01-01T01:00:00.000Z'
  assert.deepEqual(seen, [null, inAnHour, null, inAnHour, null])
  const early = runMachine(machine, happyEffects({ fetchSource: waits }), { input: deployInput() })
  await early.reached('running.fetching')
  const fetching = toRecord(early.actor.getSnapshot() as DeploySnapshot)
  assert.equal(fetching.deadline_at, '2026-01-01T00:10:00.000Z')
})

test('a deploy replaced by a newer queued one is canceled, and names the newer one', async () => {
  const effects = happyEffects({ awaitTurn: async () => ({ ...grantedTurn, supersededBy: 'dep-2' }) })
  const run = runMachine(machine, effects, { input: deployInput() })
  await run.reached('canceled')
  assert.deepEqual(run.states, ['queued', 'canceling', 'canceled'])
  const { error, error_code, error_details } = toRecord(run.actor.getSnapshot() as DeploySnapshot)
  assert.deepEqual([error, error_code], ['superseded by dep-2', 'superseded'])
  assert.deepEqual(error_details, { deploy_id: 'dep-2' })
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

test('a deploy whose first request got 500 is live with a warning, and one with 404 without', async () => {
  const warningsAfter = async (status: number | null) => {
    const switchTraffic = async () => ({ at: instant, status })
    const run = runMachine(machine, happyEffects({ switchTraffic }), { input: deployInput() })
    await run.reached('live')
    return toRecord(run.actor.getSnapshot() as DeploySnapshot).warnings
  }
  assert.deepEqual(await warningsAfter(500), [{ code: 'page_fails', path: '/', status: 500 }])
  assert.deepEqual([await warningsAfter(404), await warningsAfter(null)], [[], []])
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

// The record of a deploy in each state, and its patch of a service with a disk when it fails.

/** Every state with its record. */
function recordStates(run: Run) {
  const views: Record<string, unknown[]> = {}
  run.actor.subscribe((snapshot) => {
    const { status, phase, error, error_code } = toRecord(snapshot as DeploySnapshot)
    const known = error_code === null ? [error] : [error, error_code]
    views[pathOf((snapshot as DeploySnapshot).value)] = [status, phase, ...known]
  })
  return views
}

test('a successful deploy shows its phases while it runs, and none before and after', async () => {
  const run = runMachine(machine, happyEffects(), { input: deployInput() })
  const queued = toRecord(run.actor.getSnapshot() as DeploySnapshot)
  const views = recordStates(run)
  await run.reached('deactivated')
  assert.deepEqual(
    [queued.status, queued.phase, queued.started_at, queued.finished_at],
    ['queued', null, null, null],
  )
  assert.deepEqual(views, {
    'running.fetching': ['running', 'fetching', null],
    'running.building': ['running', 'building', null],
    'running.starting': ['running', 'starting', null],
    'running.checking': ['running', 'checking', null],
    'running.switching': ['running', 'switching', null],
    live: ['live', null, null],
    draining: ['deactivated', null, null],
    deactivated: ['deactivated', null, null],
  })
})

test('a failed or canceled deploy shows that immediately, also during its cleanup', async () => {
  const failing = runMachine(machine, happyEffects({ buildImage: () => Promise.reject(failure) }), {
    input: deployInput(),
  })
  const views = recordStates(failing)
  await failing.reached('failed')
  const canceling = runMachine(machine, happyEffects({ buildImage: waits }), { input: deployInput() })
  const shownToo = recordStates(canceling)
  await canceling.reached('running.building')
  canceling.actor.send({ type: 'cancel', at: instant, by: 'Ada' })
  await canceling.reached('canceled')

  const failed = ['failed', 'building', failure.message, failure.code]
  assert.deepEqual([views.failing, views.failed], [failed, failed])
  const canceled = ['canceled', 'building', 'canceled by Ada', 'canceled']
  assert.deepEqual([shownToo.canceling, shownToo.canceled], [canceled, canceled])
})

test('a failed deploy shows no image of its own, only the reused one of another deploy', async () => {
  const fails = { probeInstances: () => Promise.reject(failure), removeTraces: waits }
  const reused = { image: 'berth/shop:dep-0', commitSha: null, commitMessage: null }
  const source = { ...deployInput().source, kind: 'reuse' as const }
  const again = { ...grantedTurn, reused: { ...reused, source } }
  const built = runMachine(machine, happyEffects(fails), { input: deployInput() })
  const restarted = runMachine(machine, happyEffects({ ...fails, awaitTurn: async () => again }), {
    input: deployInput({ source }),
  })
  const images = []
  for (const run of [built, restarted]) {
    await run.reached('failing')
    images.push(toRecord(run.actor.getSnapshot() as DeploySnapshot).image)
  }
  assert.deepEqual(images, [null, 'berth/shop:dep-0'])
})

for (const [exclusive, claims] of [
  [false, []],
  [true, ['running.starting', 'running.checking', 'failing']],
] as const) {
  test(`a failure while checking restores the service after the cleanup (disk: ${exclusive})`, async () => {
    const awaitTurn = async () => ({ ...grantedTurn, exclusive })
    const effects = happyEffects({ awaitTurn, probeInstances: () => Promise.reject(failure) })
    const run = runMachine(machine, effects, { input: deployInput() })
    const reported: unknown[] = []
    let before: DeploySnapshot | null = null
    run.actor.subscribe((snapshot) => {
      const { value } = snapshot as DeploySnapshot
      const written = toService(snapshot as DeploySnapshot, before)
      if (written) reported.push([pathOf(value), written.desired_deploy_id])
      before = snapshot as DeploySnapshot
    })
    await run.reached('failed')
    const claimed = claims.map((state) => [state, 'dep-1'])
    assert.deepEqual(reported, exclusive ? [...claimed, ['failed', 'dep-0']] : [])
  })
}

// The deploy of a cron job: live as soon as its parts are ready, because only its schedule starts runs.

const onSchedule: TestEffect = async () => ({ ...grantedTurn, onSchedule: true })
const life = ['queued', 'running.fetching', 'running.building', 'running.starting', 'live']
const cronEffects = (changes: Record<string, TestEffect> = {}) =>
  happyEffects({ awaitTurn: onSchedule, ...changes })

test('a cron job goes live without a check and without a switch of traffic', async () => {
  const run = runMachine(machine, cronEffects({ keepInstances: waits }), { input: deployInput() })
  const reported = recordServicePatches(run)
  await run.reached('live')
  assert.deepEqual(run.states, life)
  assert.deepEqual(reported, [{ live_deploy_id: 'dep-1', desired_deploy_id: 'dep-1', degraded: false }])
  const { status, phase, port, health_check } = toRecord(run.actor.getSnapshot() as DeploySnapshot)
  assert.deepEqual([status, phase, port, health_check], ['live', null, 3000, null])
  run.actor.stop()
})

// Variants of a deploy: a pulled image, a reused image, a pre-deploy command, and snapshots
// of earlier versions.

const withPreDeploy = async () => ({ ...grantedTurn, preDeploy: true })

test('an image is pulled instead of built, and its command runs before its instances start', async () => {
  const exact = { ...imageInput().source, image: 'example.com/shop:v1@sha256:abc' }
  const pullImage = async () => ({ at: instant, image: 'berth/shop:dep-1', source: exact })
  const effects = happyEffects({ awaitTurn: withPreDeploy, pullImage, keepInstances: waits })
  const run = runMachine(machine, effects, { input: imageInput() })
  await run.reached('live')
  assert.deepEqual(run.states, [...imagePath, ...happyPath.slice(4, 7)])
  const { image, source, commit_sha } = toRecord(run.actor.getSnapshot() as DeploySnapshot)
  assert.deepEqual([image, source, commit_sha], ['berth/shop:dep-1', exact, null])
})

test('a command that the source names runs, or not, whatever was expected before it was known', async () => {
  for (const preDeploy of [true, false]) {
    const buildImage = async () => ({ at: instant, image: 'berth/shop:dep-1', preDeploy })
    const awaitTurn = async () => ({ ...grantedTurn, preDeploy: !preDeploy })
    const run = runMachine(machine, happyEffects({ awaitTurn, buildImage, keepInstances: waits }), {
      input: deployInput(),
    })
    await run.reached('live')
    assert.equal(run.states.includes('running.preparing'), preDeploy)
    assert.equal(run.actor.getSnapshot().context.preDeploy, preDeploy)
  }
})

test('a deploy of version 1 continues from its state', async () => {
  const effects = happyEffects({
    awaitTurn: async () => ({ ...grantedTurn, settleMs: 0 }),
    buildImage: waits,
  })
  const now = runMachine(machine, effects, { input: deployInput() })
  await now.reached('running.building')
  const snapshot = now.snapshots.at(-1)!
  now.actor.stop()
  const old = structuredClone(snapshot) as unknown as { context: Record<string, unknown> }
  for (const field of ['preDeploy', 'settleMs', 'onSchedule']) delete old.context[field]

  const migrated = migrate(old, 1)

  assert.deepEqual(migrated, snapshot)
  const run = runMachine(machine, happyEffects(), { snapshot: migrated as never })
  await run.reached('deactivated')
  assert.deepEqual(run.states, happyPath.slice(2))
})

test('a restart neither fetches nor builds: it starts the live image', async () => {
  const reused = { image: 'berth/shop:dep-0', commitSha: sha, commitMessage: 'Before' }
  const effects = happyEffects({ awaitTurn: async () => ({ ...grantedTurn, reused }), keepInstances: waits })
  const source = { ...deployInput().source, kind: 'reuse' as const }
  const run = runMachine(machine, effects, { input: deployInput({ source }) })
  await run.reached('live')
  assert.deepEqual(run.states, ['queued', ...happyPath.slice(3, 7)])
  const { image, commit_sha, commit_message } = toRecord(run.actor.getSnapshot() as DeploySnapshot)
  assert.deepEqual([image, commit_sha, commit_message], ['berth/shop:dep-0', sha, 'Before'])
})

// The input of each effect of a deploy, because after a restart an effect has nothing else.

const owner = { id: 'dep-1', serviceId: 'svc-1' }
const minuteMs = 60_000

/**
 * Effects that record their inputs. The first ends one minute after the request, the next after two,
 * and so on.
 */
function recordingEffects(changes: Record<string, TestEffect> = {}) {
  const inputs: Record<string, unknown> = {}
  let atMs = Date.parse(deployInput().at)
  const listen =
    (name: string, effect: TestEffect): TestEffect =>
    async (input, signal) => {
      inputs[name] = input
      const output = (await effect(input, signal)) as object
      atMs += minuteMs
      return { ...output, at: new Date(atMs).toISOString() }
    }
  const awaitTurn = async () => ({ ...grantedTurn, preDeploy: true })
  const effects = Object.entries(happyEffects({ awaitTurn, ...changes }))
  return {
    inputs,
    effects: Object.fromEntries(effects.map(([name, effect]) => [name, listen(name, effect)])),
  }
}

/** The instant `minutes` after the request. */
const inMinutes = (count: number) => Date.parse(deployInput().at) + count * minuteMs

test('every effect receives its owner, the earlier results, and its deadline', async () => {
  const input = deployInput({ clearCache: true })
  const { inputs, effects } = recordingEffects()
  await runMachine(machine, effects, { input }).reached('deactivated')
  const image = 'berth/shop:dep-1'
  const expected = { port: 3000, portSource: 'default' }
  assert.deepEqual(inputs, {
    awaitTurn: { ...owner, source: input.source },
    fetchSource: { ...owner, source: input.source, deadlineAt: inMinutes(1 + 10) },
    buildImage: { ...owner, clearCache: true, timeoutMs: 60 * minuteMs },
    runPreDeploy: { ...owner, image, commitSha: sha, deadlineAt: inMinutes(3 + 60) },
    startInstances: { ...owner, image, commitSha: sha, deadlineAt: inMinutes(4 + 2) },
    probeInstances: { ...owner, ...expected, settleMs: 5000, deadlineAt: inMinutes(5 + 5) + 5000 },
    switchTraffic: { ...owner, formerDeployId: 'dep-0', deadlineAt: inMinutes(6 + 2) },
    keepInstances: { ...owner, image },
    drainInstances: { ...owner, port: 3000, drainUntil: inMinutes(8 + 0.5) },
  })
})

test('a pull receives its image, and has the time limit of a fetch', async () => {
  const input: DeployInput = imageInput()
  const { inputs, effects } = recordingEffects()
  await runMachine(machine, effects, { input }).reached('live')
  assert.deepEqual(inputs.pullImage, { ...owner, source: input.source, deadlineAt: inMinutes(1 + 10) })
})

test('the cleanup receives the previous live deploy, and the reason for the cleanup', async () => {
  const failing = recordingEffects({ fetchSource: () => Promise.reject(failure) })
  await runMachine(machine, failing.effects, { input: deployInput() }).reached('failed')
  const canceling = recordingEffects({ fetchSource: (_, signal) => forever(signal) })
  const run = runMachine(machine, canceling.effects, { input: deployInput() })
  await run.reached('running.fetching')
  run.actor.send({ type: 'cancel', at: deployInput().at, by: 'Ada' })
  await run.reached('canceled')

  const common = { ...owner, formerDeployId: 'dep-0' }
  assert.deepEqual(failing.inputs.removeTraces, { ...common, outcome: failure.message, canceled: false })
  assert.deepEqual(canceling.inputs.removeTraces, { ...common, outcome: 'canceled by Ada', canceled: true })
})
