// The states of charts in which the daemon must have been killed at least once. Kills are steered into those
// that are still missing: the daemon is killed as soon as an actor of that kind reaches that state.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Drill } from '../crash/drill.ts'
import type { Chance } from '../crash/random.ts'

export const rarePaths = [
  'backup checking',
  'backup deleting',
  'backup discarding',
  'backup dumping',
  'cron-schedule due',
  'datastore deleting',
  'datastore probing',
  'datastore pulling',
  'datastore starting',
  'datastore stopping',
  'deploy building',
  'deploy canceling',
  'deploy checking',
  'deploy draining',
  'deploy failing',
  'deploy fetching',
  'deploy preparing',
  'deploy pulling',
  'deploy starting',
  'deploy switching',
  'disk-removal removing',
  'edge starting',
  'job-run clearing',
  'job-run failing',
  'job-run following',
  'job-run starting',
  'job-run stopping',
  'restore checking',
  'restore loading',
  'restore switching',
  'restore tidying',
  'restore undoing',
  'service-removal clearing',
  'service-removal ending',
] as const

const timeoutMs = 8000

/** Resolves right after an actor came into one of these states, or after a while. */
export async function untilState({ victim }: Drill, paths: string[], chance: Chance): Promise<void> {
  const api = await victim.whenUp()
  try {
    for await (const { event, data } of api.events('/events', { signal: AbortSignal.timeout(timeoutMs) })) {
      const transition = event === 'change' ? JSON.parse(data).transition : null
      if (transition === null) continue
      const states: string[] = transition.state.split(/[. ]/)
      if (states.some((state) => paths.includes(`${transition.kind} ${state}`))) break
    }
  } catch {
    // It did not happen in time, or the daemon ended.
  }
  await sleep(chance.isTrue(0.8) ? 0 : chance.between(0, 100))
}
