// Effects that read foreign input, such as a repository or the output of a build. What they read may end the
// daemon: it blocks the event loop, fills the heap, or meets a bug. Each such effect is on record while it
// runs. After an end that the daemon caused itself, the effects that it interrupted are suspects, which run
// one at a time. One that ends the daemon again is the culprit.
import pLimit from 'p-limit'
import type { SlotInput } from '../../machines/slot.ts'
import type { Storage } from '../../storage/index.ts'
import { inTurn } from '../async/in-turn.ts'
import { endings, type OwnEnd, type OwnEndReason } from '../own-end.ts'

/** A suspect without a time limit lets the next one start after this time. */
const maxTurnMs = 10 * 60_000
/** While the first of these ends other effects ran too; at the second, only this one was a suspect. */
const endsOfCulprit = 2

export interface ForeignReads {
  /** Runs the effect on record; a suspect waits for its turn, which extends its deadline. */
  run<T>(effect: string, input: SlotInput, signal: AbortSignal, work: Work<T>): Promise<T>
  /** The actors whose effects take turns. */
  suspects(): string[]
  /** Called at a start, before any effect. Returns the actors that must be parked, with the reason. */
  countEnd(end: OwnEnd | null): Promise<Culprit[]>
}

export interface Culprit {
  id: string
  reason: string
}

type Work<T> = (input: SlotInput) => Promise<T>

interface Parts {
  storage: Pick<Storage, 'actors' | 'foreignReads'>
  now: () => number
  halt: AbortSignal
}

export function createForeignReads({ storage, now, halt }: Parts): ForeignReads {
  const reads = storage.foreignReads
  const turns = pLimit(1)
  const suspects = new Set<string>()

  async function run<T>(effect: string, input: SlotInput, signal: AbortSignal, work: Work<T>): Promise<T> {
    const { id } = input
    const waitsSince = now()
    let endTurn = () => {}
    try {
      if (suspects.has(id)) endTurn = await takeTurn(signal)
      await reads.begin(id, effect)
      signal.throwIfAborted()
      if (suspects.has(id) && input.deadlineAt === undefined) endTurn = limited(endTurn, id, effect)
      return await work(later(input, now() - waitsSince))
    } finally {
      endTurn()
      // The end of an effect that the daemon stops proves nothing.
      if (!halt.aborted) {
        suspects.delete(id)
        await reads.end(id, effect).catch(() => undefined)
      }
    }
  }

  const takeTurn = (signal: AbortSignal) =>
    new Promise<() => void>((resolve, reject) => {
      inTurn(turns, signal, () => new Promise<void>((end) => resolve(end))).catch(reject)
    })

  /** Ends the turn early, and the suspicion with it. */
  function limited(endTurn: () => void, id: string, effect: string): () => void {
    const timer = setTimeout(() => {
      suspects.delete(id)
      void reads.acquit(id, effect).catch(() => undefined)
      endTurn()
    }, maxTurnMs)
    return () => {
      clearTimeout(timer)
      endTurn()
    }
  }

  return {
    run,
    suspects: () => [...suspects],
    async countEnd(end) {
      const active = new Set([...storage.actors.active()].map(({ id }) => id))
      const found = await reads.countEnd(end, (id) => active.has(id))
      for (const { id, ends } of found) if (ends.length < endsOfCulprit) suspects.add(id)
      return found
        .filter(({ id }) => !suspects.has(id))
        .map(({ id, effect, ends }) => {
          const what = endings[ends.at(-1)!.reason as OwnEndReason]
          return { id, reason: `berthd had to end itself twice during ${effect}: ${what}` }
        })
    },
  }
}

/** The time in the queue does not count against the effect's deadline. */
function later(input: SlotInput, waitedMs: number): SlotInput {
  if (input.deadlineAt === undefined || waitedMs === 0) return input
  return { ...input, deadlineAt: input.deadlineAt + waitedMs }
}
