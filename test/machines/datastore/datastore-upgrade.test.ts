// An upgrade of a datastore: whatever happens before the switch reopens the version that it had.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { machine, migrate } from '../../../machines/datastore/datastore.ts'
import { fails, path, recordOf, start, turn, waits, working } from '../../support/machines/datastore-chart.ts'
import { instant } from '../../support/machines/deploy-chart.ts'
import { type Run, runMachine, type TestEffect } from '../../support/machines/machine-run.ts'

const plan = {
  id: 'upg-1',
  from: { version: '17', volume: 'shop-db' },
  to: { version: '18', volume: 'upg-1' },
  removal: { id: 'dsk-1', expiresAt: '2026-01-08T00:00:00.000Z' },
  keptBy: null as string | null,
}
const upgrade = { type: 'upgrade', at: instant, by: 'Ada', plan }
const back = { ...upgrade, plan: { ...plan, keptBy: 'dsk-0' } }
const cancel = { type: 'upgrade.cancel', at: instant, by: 'Ada' }

async function upgraded(effects: Record<string, TestEffect>, event = upgrade): Promise<Run> {
  const run = start(effects)
  await run.reached(path('available'))
  run.actor.send(event)
  return run
}

/** The upgrade is over, and its datastore serves or has failed. */
async function settled(run: Run): Promise<void> {
  const isSettled = () =>
    recordOf(run).upgrade?.finished_at && ['available', 'failed'].includes(recordOf(run).status)
  while (!isSettled()) await turn()
}

const outcome = (run: Run) => {
  const { status, version, upgrade: newest, former } = recordOf(run)
  return [status, version, newest?.error ?? null, newest?.finished_at !== null, former?.version ?? null]
}

test('after the copy and the switch it starts as the new version', async () => {
  const versions: unknown[] = []
  const startDatastore: TestEffect = async (input) => {
    versions.push((input as { version?: string }).version)
    return { at: instant, hostPort: 25_001, notice: null }
  }
  const run = await upgraded({ startDatastore })
  await settled(run)
  assert.deepEqual(outcome(run), ['available', '18', null, true, '17'])
  assert.deepEqual(versions, ['17', '18'])
  run.actor.stop()
})

test('its status and phase show the step', async () => {
  for (const [slot, phase] of [
    ['checkUpgrade', 'checking'],
    ['copyData', 'copying'],
    ['switchVolume', 'switching'],
  ] as const) {
    const run = await upgraded({ [slot]: waits })
    await run.reached(path(`upgrading.${phase}`))
    assert.deepEqual([recordOf(run).status, recordOf(run).phase], ['upgrading', phase])
    run.actor.stop()
  }
})

test('a failed check leaves the server alone, and a failed or canceled copy is undone', async () => {
  for (const [effects, isUndone] of [
    [{ checkUpgrade: fails }, false],
    [{ copyData: fails }, true],
    [{ switchVolume: fails }, false],
  ] as const) {
    const run = await upgraded(effects)
    await settled(run)
    assert.deepEqual(outcome(run), ['available', '17', 'no space left', true, null])
    assert.equal(run.states.includes(path('upgrading.undoing')), isUndone)
    run.actor.stop()
  }
  const run = await upgraded({ copyData: waits })
  await run.reached(path('upgrading.copying'))
  run.actor.send(cancel)
  await settled(run)
  assert.deepEqual(outcome(run), ['available', '17', 'canceled by Ada', true, null])
  run.actor.stop()
})

test('it is not deleted during an upgrade, and is afterwards', async () => {
  const deletion = { type: 'delete', at: instant, by: 'Ada', keep: null }
  const run = await upgraded({ copyData: waits })
  await run.reached(path('upgrading.copying'))
  run.actor.send(deletion)
  assert.equal(recordOf(run).status, 'upgrading')
  run.actor.send(cancel)
  await settled(run)
  run.actor.send(deletion)
  await run.reached('deleted')
})

test('a return is a switch without a copy, also for a server that fails', async () => {
  for (const from of ['available', 'failed']) {
    const run = start(from === 'failed' ? { awaitAnswer: fails } : {})
    await run.reached(path(from))
    run.actor.send(back)
    await settled(run)
    assert.ok(!run.states.includes(path('upgrading.copying')))
    assert.equal(recordOf(run).version, '18')
    run.actor.stop()
  }
  const run = start({ awaitAnswer: fails })
  await run.reached(path('failed'))
  run.actor.send(upgrade)
  assert.equal(recordOf(run).upgrade, null)
  run.actor.stop()
})

test('the snapshot of a datastore without upgrades is migrated', async () => {
  const run = start()
  await run.reached(path('available'))
  const snapshot = run.actor.getPersistedSnapshot() as unknown as { context: Record<string, unknown> }
  run.actor.stop()
  const { upgrade: _, former: __, ...context } = snapshot.context
  const migrated = migrate({ ...snapshot, context }, 2)
  const later = runMachine(machine, working, { snapshot: migrated as never })
  later.actor.send(upgrade)
  await settled(later)
  assert.equal(recordOf(later).version, '18')
  later.actor.stop()
})
