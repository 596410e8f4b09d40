// Chance against a deploy: commands, failures, repetitions and restarts in any order leave one end, one tale.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { Storage } from '../../storage/index.ts'
import { happyPath, slotOf } from '../support/deploy-life.ts'
import { type DeployWorld, openDeployWorld } from '../support/deploy-world.ts'
import { temporaryStorage } from '../support/supervised.ts'

type Step =
  | { do: 'succeed' | 'fail' | 'restart' }
  | { do: 'cancel' | 'report'; key: number; isAwaited: boolean }

const command = { key: fc.nat(1), isAwaited: fc.boolean() }
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>({ do: 'succeed' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'fail' }) },
  { weight: 3, arbitrary: fc.constant<Step>({ do: 'restart' }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), ...command }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('report' as const), ...command }) },
)
const story = fc.record({
  /** So many phases go well first: chance alone seldom comes to `live`. */
  lead: fc.nat(7),
  /** How long an aborted effect takes to end. */
  lingerMs: fc.nat(8),
  steps: fc.array(step, { maxLength: 15 }),
})

/** Where each event leads, as the reviewed chart says. */
function nextState(state: string, event: string): string | undefined {
  const cancelable = state === 'queued' || state.startsWith('running.')
  if (event === 'cancel') return cancelable ? 'canceling' : undefined
  if (event === 'instances.reported') return state === 'live' ? 'live' : undefined
  if (event === `${slotOf[state]}.failed`) return cancelable ? 'failing' : undefined
  if (event !== `${slotOf[state]}.done`) return undefined
  if (state === 'failing' || state === 'canceling') return state === 'failing' ? 'failed' : 'canceled'
  return happyPath[happyPath.indexOf(state) + 1]
}

const events = {
  cancel: { type: 'cancel', by: 'Ada' },
  report: { type: 'instances.reported', degraded: true },
}

/** Does one step; a command answers the key of what was applied. */
async function take(world: DeployWorld, one: Step, number: number): Promise<string | null> {
  switch (one.do) {
    case 'cancel':
    case 'report': {
      // Two of one key and under way at once never reach the supervisor: they are told apart before.
      const key = one.isAwaited ? `${one.do} ${one.key}` : `${one.do} at ${number}`
      const { applied } = await world.send(events[one.do], key)
      return applied ? key : null
    }
    default:
      await world[one.do]()
      return null
  }
}

async function live(world: DeployWorld, steps: Step[]): Promise<Set<string>> {
  const answers: Promise<string | null>[] = []
  for (const [number, one] of steps.entries()) {
    const taken = take(world, one, number)
    answers.push(taken)
    if ('isAwaited' in one && !one.isAwaited) continue
    await taken
    await world.rest()
  }
  while (!world.isFinal()) {
    await world.rest()
    world.succeed()
  }
  return new Set((await Promise.all(answers)).filter((key) => key !== null))
}

function judge(storage: Storage, id: string, serviceId: string, applied: Set<string>): void {
  const history = storage.actors.history(id)
  const { revision, final, restarts } = storage.actors.get(id)!
  assert.deepEqual([history.length, final, restarts], [revision, true, 0])
  assert.deepEqual([history[0]?.event, history[0]?.state], ['created', 'queued'])
  for (const [index, { event, state }] of history.slice(1).entries()) {
    assert.equal(state, nextState(history[index]!.state, event), `${history[index]!.state} by ${event}`)
  }
  const ends = history.filter(({ state }) => ['deactivated', 'failed', 'canceled'].includes(state))
  assert.deepEqual(ends, history.slice(-1))
  const commands = history.filter(({ event }) => event === 'cancel' || event === 'instances.reported')
  assert.equal(commands.length, applied.size)
  const wasLive = history.some(({ state }) => state === 'live')
  const { live_deploy_id, desired_deploy_id } = storage.services.get(serviceId)!
  assert.deepEqual([live_deploy_id, desired_deploy_id], wasLive ? [id, id] : [null, null])
  assert.deepEqual([...storage.actors.active()], [])
}

async function tryChance(t: TestContext, runs: number): Promise<void> {
  const storage = await temporaryStorage(t)
  const seed = Date.now() % 2 ** 31
  t.diagnostic(`seed ${seed}`)
  let run = 0
  const property = fc.asyncProperty(story, async ({ lead, lingerMs, steps }) => {
    const [id, serviceId] = [`dep-${++run}`, `svc-${run}`]
    const world = await openDeployWorld(storage, { id, serviceId, lingerMs })
    const goodBeginning = Array<Step>(lead).fill({ do: 'succeed' })
    try {
      await world.rest()
      const applied = await live(world, [...goodBeginning, ...steps])
      assert.deepEqual(world.wrongs, [])
      judge(storage, id, serviceId, applied)
    } finally {
      await world.stop()
    }
  })
  await fc.assert(property, { numRuns: runs, seed })
}

test('whatever happens to a deploy, it has one end, no gap, and no effect too early or twice', (t) =>
  tryChance(t, 200))
