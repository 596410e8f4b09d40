// The chart of a service removal: its steps run in order, also after an interruption at any step.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  machine,
  migrate,
  type ServiceRemovalInput,
  type ServiceRemovalSnapshot,
  toRecord,
  toService,
} from '../../machines/service-removal.ts'
import { instant } from '../support/machines/deploy-chart.ts'
import { runMachine, type TestEffect, waits } from '../support/machines/machine-run.ts'

const input: ServiceRemovalInput = {
  id: 'svc-1',
  serviceId: 'svc-1',
  deleteDisk: true,
  trash: null,
  at: instant,
}
const path = ['ending', 'clearing', 'removed']
const slotOf: Record<string, string> = { ending: 'endDeploys', clearing: 'removeBelongings' }

function happyEffects(changes: Record<string, TestEffect> = {}): Record<string, TestEffect> {
  const succeed = async () => ({ at: instant })
  return { endDeploys: succeed, removeBelongings: succeed, ...changes }
}

const recordOf = (run: ReturnType<typeof runMachine>) =>
  toRecord(run.actor.getSnapshot() as ServiceRemovalSnapshot)

test('a removal ends the deploys, then removes the rest, and is then done', async () => {
  const run = runMachine(machine, happyEffects(), { input })
  await run.reached('removed')
  assert.deepEqual(run.states, path)
  assert.deepEqual(run.started, ['endDeploys', 'removeBelongings'])
  assert.deepEqual(recordOf(run), {
    id: 'svc-1',
    service_id: 'svc-1',
    status: 'removed',
    phase: null,
    delete_disk: true,
    trash: null,
    created_at: instant,
  })
})

for (const state of ['ending', 'clearing']) {
  test(`while ${state} it shows as deleting, with that phase`, async () => {
    const run = runMachine(machine, happyEffects({ [slotOf[state]!]: waits }), { input })
    await run.reached(state)
    const { status, phase } = recordOf(run)
    assert.deepEqual([status, phase], ['deleting', state])
    run.actor.stop()
  })
}

test('its effects receive the service, and whether to remove the disk', async () => {
  const inputs: unknown[] = []
  const note: TestEffect = async (effectInput) => {
    inputs.push(effectInput)
    return { at: instant }
  }
  const effects = { endDeploys: note, removeBelongings: note }
  await runMachine(machine, effects, { input: { ...input, deleteDisk: false } }).reached('removed')
  assert.deepEqual(inputs, [
    { id: 'svc-1', serviceId: 'svc-1' },
    { id: 'svc-1', serviceId: 'svc-1', deleteDisk: false },
  ])
})

test('from every snapshot a fresh actor reaches the same end and repeats no finished effect', async () => {
  const whole = runMachine(machine, happyEffects(), { input })
  await whole.reached('removed')
  const end = recordOf(whole)
  const alive = whole.snapshots.filter(({ status }) => status === 'active')
  assert.equal(alive.length, 2)
  for (const [index, snapshot] of alive.entries()) {
    const run = runMachine(machine, happyEffects(), { snapshot })
    await run.reached('removed')
    assert.deepEqual(recordOf(run), end)
    assert.deepEqual(run.started, whole.started.slice(index))
  }
})

test('a retained disk goes to the trash last, from every snapshot', async () => {
  const trash = { id: 'dsk-1', serviceName: 'shop', expiresAt: '2026-01-08T00:00:00.000Z' }
  const inputs: [string, unknown][] = []
  const noting = (name: string): [string, TestEffect] => [
    name,
    async (effectInput) => {
      inputs.push([name, effectInput])
      return { at: instant }
    },
  ]
  const effects = Object.fromEntries(['endDeploys', 'removeBelongings', 'trashDisk'].map(noting))
  const whole = runMachine(machine, effects, { input: { ...input, trash } })
  await whole.reached('removed')
  assert.deepEqual(whole.states, ['ending', 'clearing', 'trashing', 'removed'])
  assert.deepEqual(inputs.slice(1), [
    ['removeBelongings', { id: 'svc-1', serviceId: 'svc-1', deleteDisk: false }],
    ['trashDisk', { id: 'svc-1', serviceId: 'svc-1', trash }],
  ])
  const last = whole.snapshots.findLast(({ status }) => status === 'active')!
  const again = runMachine(machine, effects, { snapshot: last })
  await again.reached('removed')
  assert.deepEqual(again.started, ['trashDisk'])
})

test('a removal that started before the trash existed removes the disk immediately', async () => {
  const first = runMachine(machine, happyEffects({ endDeploys: waits }), { input })
  first.actor.stop()
  const snapshot = first.snapshots[0] as unknown as { context: Record<string, unknown> }
  const { trash: _, ...context } = snapshot.context
  const run = runMachine(machine, happyEffects(), {
    snapshot: migrate({ ...snapshot, context }, 1) as never,
  })
  await run.reached('removed')
  assert.deepEqual(run.started, ['endDeploys', 'removeBelongings'])
})

test('the service is marked as being deleted when the actor is created, and only then', async () => {
  const run = runMachine(machine, happyEffects(), { input })
  const reported: unknown[] = []
  run.actor.subscribe((snapshot) => void reported.push(toService(snapshot as ServiceRemovalSnapshot)))
  const first = runMachine(machine, happyEffects({ endDeploys: waits }), { input })
  reported.unshift(toService(first.actor.getSnapshot() as ServiceRemovalSnapshot))
  first.actor.stop()
  await run.reached('removed')
  assert.deepEqual(reported, [{ deleting: true }, null, null])
})
