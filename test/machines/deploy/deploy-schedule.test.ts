// The deploy of a cron job: live as soon as its parts are ready, because only its schedule starts runs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DeploySnapshot, machine, toRecord, toService } from '../../../machines/deploy/deploy.ts'
import {
  deployInput,
  failure,
  grantedTurn,
  happyEffects,
  instant,
  sha,
} from '../../support/machines/deploy-chart.ts'
import { forever, runMachine, type TestEffect } from '../../support/machines/machine-run.ts'

const waits: TestEffect = (_, signal) => forever(signal)
const awaitTurn: TestEffect = async () => ({ ...grantedTurn, onSchedule: true })
const life = ['queued', 'running.fetching', 'running.building', 'running.starting', 'live']
const cronEffects = (changes: Record<string, TestEffect> = {}) => happyEffects({ awaitTurn, ...changes })

test('a cron job goes live without a check and without a switch of traffic', async () => {
  const run = runMachine(machine, cronEffects({ keepInstances: waits }), { input: deployInput() })
  const reported: unknown[] = []
  let before: DeploySnapshot | null = null
  run.actor.subscribe((snapshot) => {
    const written = toService(snapshot as DeploySnapshot, before)
    if (written) reported.push(written)
    before = snapshot as DeploySnapshot
  })
  await run.reached('live')
  assert.deepEqual(run.states, life)
  assert.deepEqual(reported, [{ live_deploy_id: 'dep-1', desired_deploy_id: 'dep-1', degraded: false }])
  assert.deepEqual(toRecord(run.actor.getSnapshot() as DeploySnapshot), {
    id: 'dep-1',
    service_id: 'svc-1',
    status: 'live',
    phase: null,
    trigger: 'manual',
    source: deployInput().source,
    image: 'berth/shop:dep-1',
    port: 3000,
    port_source: 'default',
    health_check: null,
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
  run.actor.stop()
})

test('a cron job replaced by another deploy drains and ends', async () => {
  const run = runMachine(machine, cronEffects(), { input: deployInput() })
  await run.reached('deactivated')
  assert.deepEqual(run.states, [...life, 'draining', 'deactivated'])
})

test('from every snapshot of its life a fresh actor reaches the same end', async () => {
  const whole = runMachine(machine, cronEffects(), { input: deployInput() })
  await whole.reached('deactivated')
  const alive = whole.snapshots.filter(({ status }) => status === 'active')
  assert.equal(alive.length, 6)
  for (const [index, snapshot] of alive.entries()) {
    const run = runMachine(machine, cronEffects(), { snapshot })
    await run.reached('deactivated')
    assert.deepEqual(run.started, whole.started.slice(index))
  }
})

test('a cron job whose start fails was never live, and restores the service', async () => {
  const effects = cronEffects({ startInstances: () => Promise.reject(failure) })
  const run = runMachine(machine, effects, { input: deployInput() })
  await run.reached('failed')
  assert.deepEqual(run.states.slice(-3), ['running.starting', 'failing', 'failed'])
})

test('a pre-deploy command runs before the cron job is live', async () => {
  const turn: TestEffect = async () => ({ ...grantedTurn, onSchedule: true, preDeploy: true })
  const run = runMachine(machine, cronEffects({ awaitTurn: turn, keepInstances: waits }), {
    input: deployInput(),
  })
  await run.reached('live')
  assert.deepEqual(run.states.slice(-3), ['running.preparing', 'running.starting', 'live'])
  run.actor.stop()
})
