// Random stories of deploys: the kind of deploy, the behaviour of the disk, and events in any order.
import fc from 'fast-check'
import type { Storage } from '../../storage/index.ts'
import { turns } from './daemon.ts'
import type { Plan } from './life.ts'
import { judge } from './verdict.ts'
import { type Conditions, openWorld, type World } from './world.ts'

type Deed =
  | { do: 'succeed' | 'fail' | 'restart' | 'crash' }
  /** Events with the same key are one repeated request. */
  | { do: 'cancel' | 'report'; key: number }

/** `turns` is the delay before the next event; null waits until nothing runs. */
type Happening = Deed & { turns: number | null }

const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Deed>({ do: 'succeed' }) },
  { weight: 1, arbitrary: fc.constant<Deed>({ do: 'fail' }) },
  { weight: 2, arbitrary: fc.constant<Deed>({ do: 'restart' }) },
  { weight: 3, arbitrary: fc.constant<Deed>({ do: 'crash' }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), key: fc.nat(1) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('report' as const), key: fc.nat(2) }) },
)
const pause = fc.oneof(fc.constant(null), fc.constant(0), fc.nat(6))
const happening: fc.Arbitrary<Happening> = fc.tuple(deed, pause).map(([one, turns]) => ({ ...one, turns }))

const seldom = (freq: number) => fc.nat(freq).map((number) => number === freq)

const story = fc.record({
  plan: fc.record({
    source: fc.constantFrom('git', 'archive', 'image', 'reuse'),
    formerDeployId: fc.option(fc.constant('dep-former')),
    isSuperseded: seldom(15),
    preDeploy: fc.boolean(),
    exclusive: fc.boolean(),
  }) satisfies fc.Arbitrary<Omit<Plan, 'id' | 'serviceId'>>,
  conditions: fc.record({
    late: fc.record({ lingerMs: fc.constantFrom(0, 1, 5, 20), succeeds: fc.boolean() }),
    disk: fc.record({
      commitTurns: fc.nat(4),
      // Rare, because the actor restarts only after a pause.
      commitsUntilRefusal: fc.tuple(seldom(9), fc.nat(12)).map(([is, after]) => (is ? after : null)),
    }),
  }) satisfies fc.Arbitrary<Conditions>,
  /** The number of effects that succeed first; random outcomes alone rarely reach `live`. */
  lead: fc.nat(8),
  happenings: fc.array(happening, { maxLength: 16 }),
})

/** Plays that many stories; throws fast-check's report of the first failure, shrunk. */
export async function tryStories(storage: Storage, options: { sequences: number; seed: number }) {
  let stories = 0
  const property = fc.asyncProperty(story, async ({ plan: chosen, conditions, lead, happenings }) => {
    const number = ++stories
    const plan: Plan = { ...chosen, id: `dep-${number}`, serviceId: `svc-${number}` }
    const world = await openWorld(storage, plan, conditions)
    const beginning = Array<Happening>(lead).fill({ do: 'succeed', turns: null })
    try {
      const applied = await play(world, [...beginning, ...happenings])
      judge(storage, plan, world.stage, applied)
    } finally {
      await world.close()
    }
  })
  await fc.assert(property, { numRuns: options.sequences, seed: options.seed })
}

/** Plays the story, then lets everything succeed to the end; returns the keys of the applied commands. */
async function play(world: World, happenings: Happening[]): Promise<Set<string>> {
  const applied = new Set<string>()
  const clients = new Map<string, Promise<void>>()
  await world.rest()
  for (const one of happenings) {
    if ('key' in one) ask(world, one, clients, applied)
    else if (one.do === 'restart' || one.do === 'crash') await world[one.do]()
    else world.stage[one.do]()
    await (one.turns === null ? world.rest() : turns(one.turns))
  }
  while (!world.stage.isFinal) {
    await world.rest()
    world.stage.succeed()
  }
  await Promise.all(clients.values())
  return applied
}

const events = { cancel: { type: 'cancel' }, report: { type: 'instances.reported' } }

/**
 * Sends a command. A repetition waits for the first response, because the server runs one request per key
 * at a time.
 */
function ask(
  world: World,
  { do: what, key }: { do: 'cancel' | 'report'; key: number },
  clients: Map<string, Promise<void>>,
  applied: Set<string>,
): void {
  const request = `${what} ${key}`
  const before = clients.get(request) ?? Promise.resolve()
  const answered = before.then(async () => {
    const receipt = await world.send(events[what], request)
    if (receipt.applied) applied.add(request)
  })
  clients.set(request, answered)
}
