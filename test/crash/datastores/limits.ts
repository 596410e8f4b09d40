// The limits that a datastore really has: its container's, and what Redis itself was told.
import { setTimeout as sleep } from 'node:timers/promises'
import Docker from 'dockerode'
import type { Book, DatastoreEntry } from './book.ts'
import { inspectContainer, networkUrl, type Place } from './container.ts'
import { runClient } from './line-client.ts'

export interface LimitLook extends Place {
  prepared: string
}

const limitMs = 60_000
/** The daemon's own. */
const defaults = { memoryMb: 512, cpus: 1 }

/** What differs from what was acknowledged, in words; null when nothing does. */
export async function limitFault(look: LimitLook, entry: DatastoreEntry): Promise<string | null> {
  const { kind, name, wanted } = entry
  const { NCPU } = await new Docker({ socketPath: look.path }).info()
  const { HostConfig } = await inspectContainer(look, entry)
  const memoryMb = wanted.memory_limit_mb ?? defaults.memoryMb
  const cpus = Math.min(NCPU, wanted.cpu_limit ?? defaults.cpus)
  const asked = { memoryMb, cpus, maxmemory: kind === 'redis' ? String((memoryMb * 2 ** 20 * 3) / 4) : null }
  const shown = {
    memoryMb: HostConfig.Memory! / 2 ** 20,
    cpus: HostConfig.NanoCpus! / 1e9,
    maxmemory: kind === 'redis' ? await maxmemory(look.prepared, await networkUrl(look, entry)) : null,
  }
  if (JSON.stringify(asked) === JSON.stringify(shown)) return null
  return `${name}: ${JSON.stringify(asked)} should be, ${JSON.stringify(shown)} is`
}

/** What was saved while Docker was away, or while the container was not there, comes to be all the same. */
export async function untilLimited(look: LimitLook, book: Book, entry: DatastoreEntry): Promise<void> {
  let fault: string | null = null
  for (const deadline = Date.now() + limitMs; Date.now() < deadline; await sleep(100)) {
    fault = await limitFault(look, entry).catch((error: Error) => error.message)
    if (fault === null) return
  }
  book.ledger.breach('limits that were saved without Docker come to be', fault!)
}

async function maxmemory(prepared: string, url: string): Promise<string> {
  return (await runClient(prepared, 'redis', url, 'config', 'get', 'maxmemory')).trim().split('\n')[1]!
}
