// The effective limits of a datastore: those of its container, and Redis' own setting.
import { setTimeout as sleep } from 'node:timers/promises'
import Docker from 'dockerode'
import type { DatastoreEntry, RunState } from './book.ts'
import { inspectContainer, networkUrl, type Place } from './container.ts'
import { runClient } from './line-client.ts'

export interface InspectTarget extends Place {
  prepared: string
}

const limitMs = 60_000
/** The daemon's defaults. */
const defaults = { memoryMb: 512, cpus: 1 }

/** The difference from the acknowledged limits, or null. */
export async function findLimitMismatch(look: InspectTarget, entry: DatastoreEntry): Promise<string | null> {
  const { kind, name, wanted } = entry
  const { NCPU } = await new Docker({ socketPath: look.path }).info()
  const { HostConfig } = await inspectContainer(look, entry)
  const memoryMb = wanted.memory_limit_mb ?? defaults.memoryMb
  const cpus = Math.min(NCPU, wanted.cpu_limit ?? defaults.cpus)
  const requested = {
    memoryMb,
    cpus,
    maxmemory: kind === 'redis' ? String((memoryMb * 2 ** 20 * 3) / 4) : null,
  }
  const view = {
    memoryMb: HostConfig.Memory! / 2 ** 20,
    cpus: HostConfig.NanoCpus! / 1e9,
    maxmemory: kind === 'redis' ? await maxmemory(look.prepared, await networkUrl(look, entry)) : null,
  }
  if (JSON.stringify(requested) === JSON.stringify(view)) return null
  return `${name}: expected ${JSON.stringify(requested)}, got ${JSON.stringify(view)}`
}

/** Limits saved while Docker or the container was unavailable must be applied later. */
export async function untilLimited(
  look: InspectTarget,
  book: RunState,
  entry: DatastoreEntry,
): Promise<void> {
  let fault: string | null = null
  for (const deadline = Date.now() + limitMs; Date.now() < deadline; await sleep(100)) {
    fault = await findLimitMismatch(look, entry).catch((error: Error) => error.message)
    if (fault === null) return
  }
  book.ledger.addViolation('limits saved without Docker are applied later', fault!)
}

async function maxmemory(prepared: string, url: string): Promise<string> {
  return (await runClient(prepared, 'redis', url, 'config', 'get', 'maxmemory')).trim().split('\n')[1]!
}
