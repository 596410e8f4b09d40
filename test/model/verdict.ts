// What must be true of a deploy at the end of its story.
import assert from 'node:assert/strict'
import type { Storage } from '../../storage/index.ts'
import { ends, happyPath, nextState, type Plan, serviceAfter, shownAfter } from './life.ts'
import type { Stage } from './stage.ts'

/** Throws an AssertionError. `applied` has the requests whose response reported a change. */
export function judge(storage: Storage, plan: Plan, stage: Stage, applied: Set<string>): void {
  const history = storage.actors.history(plan.id)
  assert.deepEqual(stage.wrongs, [])
  requireTale(storage, plan)
  requireEnd(storage, plan)
  const commands = history.filter(({ event }) => event === 'cancel' || event === 'instances.reported')
  assert.equal(commands.length, applied.size, 'every applied request is one transition')
  assert.deepEqual([...stage.traces], [], 'nothing is left behind')
}

/** Each transition is legal and has the expected record. */
function requireTale({ actors }: Storage, plan: Plan): void {
  const history = actors.history(plan.id)
  const { revision, final, restarts, parked } = actors.get(plan.id)!
  assert.deepEqual([history.length, final, restarts, parked], [revision, true, 0, null])
  assert.deepEqual([history[0]?.event, history[0]?.state], ['created', 'queued'])
  for (const [index, { event, state }] of history.slice(1).entries()) {
    const before = history[index]!.state
    assert.equal(state, nextState(plan, before, event), `${before} by ${event}`)
  }
  for (const [index, { status, phase }] of history.entries()) {
    assert.deepEqual({ status, phase }, shownAfter(history.slice(0, index + 1)))
  }
}

/** There is one end, its record and service agree, and a restart would not resume the deploy. */
function requireEnd({ actors, services }: Storage, plan: Plan): void {
  const history = actors.history(plan.id)
  const found = history.filter(({ state }) => ends.includes(state))
  assert.deepEqual(found, history.slice(-1), 'there is one end, and it is the last')
  const { status, phase, error, finished_at, started_at, image } = actors.record(plan.id)!
  assert.deepEqual({ status, phase }, shownAfter(history))
  assert.deepEqual([error === null, finished_at === null], [status === 'deactivated', false])
  const hadTurn = history.some(({ state }) => state === happyPath(plan)[1])
  assert.equal(started_at !== null, hadTurn)
  const hasImage = history.some(({ state }) => state === 'running.starting')
  const staysThere = status === 'deactivated' || plan.source === 'reuse'
  assert.equal(image !== null, hasImage && staysThere, 'an image is shown as long as there is one')
  const service = services.get(plan.serviceId)!
  assert.deepEqual({ ...service, ...serviceAfter(plan, history) }, service)
  assert.deepEqual([...actors.active('deploy', plan.serviceId)], [])
}
