// The states of charts in which the daemon must have been killed at least once. Kills are steered into those
// that are still missing: the daemon is killed as soon as an actor of that kind reaches that state.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Drill } from '../crash/drill.ts'
import { lookAtStates } from '../crash/kills.ts'
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

const timeoutMs = 10_000

/**
 * Resolves right after an actor came into one of these states, or after a while. Some states last for a few
 * milliseconds, so the store itself is read: an event of the API would arrive too late.
 */
export async function untilState({ victim }: Drill, paths: readonly string[], chance: Chance): Promise<void> {
  await victim.whenUp()
  const isReached = await lookAtStates(victim.dataDir, async (read) => {
    for (const endAt = Date.now() + timeoutMs; Date.now() < endAt; await sleep(1))
      if (read().some((path) => paths.includes(path))) return true
    return false
  })
  if (isReached && chance.isTrue(0.2)) await sleep(chance.between(0, 100))
}
