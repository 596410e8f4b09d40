// Chooses when to kill the daemon: during startup, in a given phase, right after a request, or at any time.
// Active work is read from the dead daemon's store, the only exact source.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises'
import { openStore } from '../../storage/store/store.ts'
import type { ApiRequest, Client } from './client.ts'
import type { Chance } from './random.ts'
import type { Victim } from './victim.ts'

export interface Kill {
  number: number
  how: 'start' | 'phase' | 'request' | 'any'
  /** Since the daemon's start; null if it was not up yet. */
  livedMs: number
  wasUp: boolean
  /** The number of actors per state. */
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
const phaseTimeoutMs = 5000

/** Waits for the moment, kills the daemon, and returns what was active. */
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
  // The restore takes some hundred milliseconds around startup.
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
    // Creating and deleting services is rare but touches much, so some kills wait for it.
    const isRare = chance.isTrue(0.4)
    await new Promise<void>((resolve) => {
      const giveUp = setTimeout(resolve, phaseTimeoutMs)
      const isMatch = ({ method, path }: ApiRequest) => !isRare || path === '/services' || method === 'DELETE'
      client.onNextChange(isMatch, () => {
        clearTimeout(giveUp)
        resolve()
      })
    })
    await pass(chance.between(0, 8))
  },
}

/** A busy wait for a fraction of a millisecond, below the resolution of timers. */
export async function pass(ms: number): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; ) await immediate()
}

/** Waits until an actor enters that phase or status, or a timeout. */
async function untilStatus(victim: Victim, wanted: string): Promise<void> {
  const api = await victim.whenUp()
  const signal = AbortSignal.timeout(phaseTimeoutMs)
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
    // It did not happen in time: any other moment will do.
  }
}

type Value = string | { [region: string]: Value }

interface Row {
  snapshot: { value: Value }
}

/** The number of actors per state in the store of a dead daemon. */
export async function readUnderWay(dataDir: string): Promise<Record<string, number>> {
  // Opening would create a store; a daemon killed right after its start has none yet.
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

/** Uses the first of parallel regions. */
function innermost(value: Value): string {
  return typeof value === 'string' ? value : innermost(Object.values(value)[0]!)
}
