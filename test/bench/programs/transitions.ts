// Many actors of the real chart on the real store, each sent an event as soon as the last one is durable.
// Usage: transitions DATA_DIRECTORY SECONDS
import { catalogue } from '../../../machines/index.ts'
import { createLogger } from '../../../src/logger.ts'
import { Supervisor } from '../../../src/supervisor/supervisor.ts'
import { openStorage } from '../../../storage/index.ts'
import { instantEffects } from '../instant-effects.ts'

export interface Transitions {
  perSecond: number
  /** Time from sending until the transition is durable. */
  latenciesMs: number[]
  cpuShare: number
}

const [directory, seconds] = [process.argv[2]!, Number(process.argv[3])]
const storage = await openStorage(directory, { onPanic: (reason) => process.exit(Number(reason) || 1) })
const supervisor = new Supervisor({ storage, catalogue, logger: createLogger({ level: 'error' }) })
supervisor.provide(instantEffects(['keepInstances']).effects)
await supervisor.restore()
const actors = [...storage.actors.active()].map(({ id }) => id)

await talk(seconds / 4)
const cpu = process.cpuUsage()
const startedAt = performance.now()
const latenciesMs = await talk(seconds)
const elapsedSeconds = (performance.now() - startedAt) / 1000
const { user, system } = process.cpuUsage(cpu)

const result: Transitions = {
  perSecond: latenciesMs.length / elapsedSeconds,
  latenciesMs,
  cpuShare: (user + system) / 1e6 / elapsedSeconds,
}
console.log(JSON.stringify(result))
await supervisor.stop()
await storage.close()

/** Sends events to all actors for that long; returns the latencies. */
async function talk(forSeconds: number): Promise<number[]> {
  const until = performance.now() + forSeconds * 1000
  const latenciesMs: number[] = []
  await Promise.all(actors.map((id) => talkTo(id, until, latenciesMs)))
  return latenciesMs
}

/** Each event changes the actor and the row of its service. */
async function talkTo(id: string, until: number, latenciesMs: number[]): Promise<void> {
  for (let degraded = true; performance.now() < until; degraded = !degraded) {
    const sentAt = performance.now()
    const event = { type: 'instances.reported', at: new Date().toISOString(), degraded }
    const { applied } = await supervisor.send(id, event)
    if (!applied) throw new Error(`${id} did not take the event`)
    latenciesMs.push(performance.now() - sentAt)
  }
}
