// Chooses the moments of the kills: while the daemon starts, at any time, in a given phase, right behind a
// request.
// What was under way is read from the store of the dead daemon; nothing else knows it exactly.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import { openStore } from '../../storage/store/store.ts'
import type { Chance } from './chance.ts'
import type { AskedRequest, Client } from './client.ts'
import type { Victim } from './victim.ts'

export interface Kill {
  number: number
  how: 'start' | 'phase' | 'request' | 'any'
  /** Since the life began; null when it was not up yet. */
  livedMs: number
  wasUp: boolean
  /** How many actors were in which state. */
  underWay: Record<string, number>
}

const phaseWeights = {
  fetching: 2,
  building: 2,
  pulling: 2,
  preparing: 2,
  starting: 4,
  checking: 3,
  switching: 4,
  failed: 2,
  canceled: 3,
}
const otherWeights = { deactivated: 4, deleting: 4 }
const phasePatienceMs = 5000

/** Waits for the moment, kills, and tells what was under way. */
export async function killOnce(
  victim: Victim,
  client: Client,
  chance: Chance,
  number: number,
): Promise<Kill> {
  const how = chance.choose({ start: 20, phase: 32, request: 18, any: 30 })
  await moments[how](victim, client, chance)
  const { startedAt, upAt } = victim.lives.at(-1)!
  await victim.kill()
  const livedMs = Date.now() - startedAt
  return { number, how, livedMs, wasUp: upAt !== null, underWay: await readUnderWay(victim.dataDir) }
}

const moments: Record<Kill['how'], (victim: Victim, client: Client, chance: Chance) => Promise<void>> = {
  // The restore takes up some hundred milliseconds around the moment when it is up.
  start: async (_victim, _client, chance) => void (await sleep(chance.between(150, 1500))),
  async any(victim, _client, chance) {
    await victim.whenUp()
    await sleep(chance.between(0, 9000))
  },
  async phase(victim, _client, chance) {
    await victim.whenUp()
    await sleep(chance.between(0, 5000))
    await untilStatus(victim, chance.choose({ ...phaseWeights, ...otherWeights }))
    await sleep(chance.isTrue(0.5) ? chance.between(0, 15) : chance.between(0, 250))
  },
  async request(victim, client, chance) {
    await victim.whenUp()
    await sleep(chance.between(0, 4000))
    // A service comes or goes rarely, and is much at once: waited for now and then.
    const isRare = chance.isTrue(0.4)
    await new Promise<void>((resolve) => {
      const giveUp = setTimeout(resolve, phasePatienceMs)
      const isMeant = ({ method, path }: AskedRequest) =>
        !isRare || path === '/services' || method === 'DELETE'
      client.onNextChange(isMeant, () => {
        clearTimeout(giveUp)
        resolve()
      })
    })
    await pass(chance.between(0, 8))
  },
}

/** Waits a part of a millisecond exactly, where a timer would take a whole one. */
export async function pass(ms: number): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; ) await immediate()
}

/** Until an actor comes into that phase or status; not for ever. */
async function untilStatus(victim: Victim, wanted: string): Promise<void> {
  const api = await victim.whenUp()
  const signal = AbortSignal.timeout(phasePatienceMs)
  try {
    for await (const { event, data } of api.events('/events', { signal })) {
      if (event !== 'change') continue
      const change = JSON.parse(data)
      if (change.status === wanted) return
      if (change.kind !== 'deploy' || change.status !== 'running') continue
      const { phase } = await api.get(`/deploys/${change.id}`)
      if (phase === wanted) return
    }
  } catch {
    // Nothing of that kind happened in time: any other moment does.
  }
}

type Value = string | { [region: string]: Value }

interface Row {
  snapshot: { value: Value }
}

/** How many actors a dead daemon left in which state. */
export async function readUnderWay(dataDir: string): Promise<Record<string, number>> {
  // Opening would make one: a daemon killed in its first moment has none yet.
  if (!existsSync(join(dataDir, 'store/data.mdb'))) return {}
  const store = openStore(dataDir, { onPanic: () => undefined })
  try {
    const rows = store.table<Row>('actors')
    const counts: Record<string, number> = {}
    for (const key of store.table('active').keys()) {
      const [, , id] = key as string[]
      const name = innermost(rows.get(id!)!.snapshot.value)
      counts[name] = (counts[name] ?? 0) + 1
    }
    return counts
  } finally {
    await store.close()
  }
}

/** Of regions side by side the first one counts. */
function innermost(value: Value): string {
  return typeof value === 'string' ? value : innermost(Object.values(value)[0]!)
}
