// The record of a deploy in each state, and its patch of a service with a disk when it fails.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DeploySnapshot, machine, toRecord, toService } from '../../../machines/deploy/deploy.ts'
import type { DeployContext } from '../../../machines/deploy/deploy-context.ts'
import {
  deployInput,
  failure,
  grantedTurn,
  happyEffects,
  instant,
} from '../../support/machines/deploy-chart.ts'
import { forever, pathOf, type Run, runMachine, type TestEffect } from '../../support/machines/machine-run.ts'

const waits: TestEffect = (_, signal) => forever(signal)

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

test('the reason why a deploy did not go live has a code', async () => {
  const superseded = runMachine(
    machine,
    happyEffects({ awaitTurn: async () => ({ ...grantedTurn, supersededBy: 'dep-2' }) }),
    { input: deployInput() },
  )
  await superseded.reached('canceled')
  const canceled = runMachine(machine, happyEffects({ awaitTurn: waits }), { input: deployInput() })
  canceled.actor.send({ type: 'cancel', at: instant, by: 'Ada' })
  const errors = [superseded, canceled].map(
    ({ actor }) => (actor.getSnapshot() as { context: DeployContext }).context.error,
  )
  assert.deepEqual(errors, [
    { code: 'superseded', message: 'superseded by dep-2', details: { deploy_id: 'dep-2' } },
    { code: 'canceled', message: 'canceled by Ada' },
  ])
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
