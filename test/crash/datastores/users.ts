// The simulated users: some manage the datastores that are written to, one creates and deletes others.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Chance } from '../random.ts'
import { create, limit, remove, repeat, restart } from './actions.ts'
import type { DatastoreEntry, RunState } from './book.ts'

const pauseMs = { least: 50, most: 3000 }
const guestName = 'guest'

export async function exerciseDatastore(
  book: RunState,
  entry: DatastoreEntry,
  chance: Chance,
): Promise<void> {
  while (!book.isOver()) {
    await sleep(chance.between(pauseMs.least, pauseMs.most))
    if (book.isLeftAlone) continue
    const act = chance.choose({ limit: 60, restart: 12, repeat: 28 })
    // Limits saved without Docker are checked separately; no others are set in that time.
    const isLimitable = !book.incidents.wasEngineAway(performance.now(), performance.now())
    if (act === 'limit' && isLimitable) await limit(book, entry, chance)
    else if (act === 'restart') await restart(book, entry)
    else await repeat(book, chance.pick(book.requests))
  }
}

/** Creates one datastore after another, each with the name of the previous one. */
export async function churnDatastores(book: RunState, chance: Chance): Promise<void> {
  while (!book.isOver()) {
    const entry = await create(book, chance.choose({ redis: 65, postgres: 35 }), guestName)
    if (chance.isTrue(0.3)) await limit(book, entry, chance)
    if (chance.isTrue(0.3)) await repeat(book, chance.pick(book.requests))
    await sleep(chance.between(0, pauseMs.most))
    // The last one remains, because it must exist at the end.
    if (!book.isOver()) await remove(book, entry)
  }
}
