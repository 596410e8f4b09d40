// Removes everything that the demo created, at whatever stage it stopped.
import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { findLeftovers, type Leftovers, removeLeftovers } from '../support/daemon/leftovers.ts'
import { count } from './lines.ts'
import { type Made, type Stage, takeStep } from './stage.ts'

const stopMs = 12_000
const removeMs = 60_000
const recheckIntervalMs = 300

/** Throws `Trouble` if something cannot be removed. */
export async function removeMade(stage: Stage): Promise<void> {
  const { folder } = stage.made
  if (folder === null) return
  await takeStep(stage, {
    name: 'removing',
    work: () => remove(stage.made, folder),
    detail: (removed) => `${removed}, ${folder}`,
    trouble: { what: 'not everything could be removed', next: describeMade(stage.made) },
  })
}

/** For a user who has to clean up manually. */
export function describeMade({ folder }: Made): string {
  if (folder === null) return 'nothing was created yet'
  const prefix = prefixIn(folder)
  return prefix ? `${folder}, and Docker objects with the label berth.instance=${prefix}` : folder
}

async function remove(made: Made, folder: string): Promise<string> {
  const daemon = await made.daemon?.catch(() => null)
  const prefix = daemon?.prefix ?? prefixIn(folder)
  let removed = 'nothing in Docker'
  if (daemon) await Promise.race([daemon.stop(), delay(stopMs, null, { ref: false })])
  if (prefix) {
    removed = describe(await findLeftovers(prefix))
    await daemon?.remove()
    await removeAll(prefix)
  }
  await rm(folder, { recursive: true, force: true })
  return removed
}

// Must be empty twice in a row: the engine may still execute the stopped daemon's last requests.
async function removeAll(prefix: string): Promise<void> {
  const deadline = Date.now() + removeMs
  for (let quietLooks = 0; quietLooks < 2; ) {
    await removeLeftovers(prefix)
    const left = namesOf(await findLeftovers(prefix))
    quietLooks = left.length === 0 ? quietLooks + 1 : 0
    if (Date.now() > deadline) throw new Error(`still present: ${left.join(', ')}`)
    if (quietLooks < 2) await delay(recheckIntervalMs)
  }
}

// A daemon that failed to start has not reported its prefix; its data directory is named after it.
function prefixIn(folder: string): string | null {
  try {
    return readdirSync(folder).flatMap((name) => /^(berth-[0-9a-f]{8})-/.exec(name)?.[1] ?? [])[0] ?? null
  } catch {
    return null
  }
}

function namesOf({ containers, networks, volumes, images }: Leftovers): string[] {
  return [...containers, ...networks, ...volumes, ...images]
}

function describe({ containers, networks, volumes, images }: Leftovers): string {
  const parts: [number, string][] = [
    [containers.length, 'container'],
    [networks.length, 'network'],
    [volumes.length, 'volume'],
    [images.length, 'image'],
  ]
  const named = parts.flatMap(([amount, noun]) => (amount === 0 ? [] : [count(amount, noun)]))
  return named.join(', ') || 'nothing in Docker'
}
