// A restored server is held: the file `held` in its data directory stops everything that acts by the clock.
// Removing the file activates the server, also from another process.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { waitFor } from '../src/async/wait-for.ts'
import { createPrivateFile } from './store/private-file.ts'

export interface HoldFacts {
  restored_at: string
  /** The moment that the backup shows. */
  backup_at: string
}

export interface Hold {
  /** Null for a server that is active. */
  get(): HoldFacts | null
  /** Resolves when the server is active: at once, for most servers. Rejects with the reason of the signal. */
  released(signal: AbortSignal): Promise<void>
  /** Idempotent. */
  release(): void
}

const fileName = 'held'
const pollMs = 1000

export function holdDirectory(directory: string, facts: HoldFacts): void {
  createPrivateFile(join(directory, fileName), `${JSON.stringify(facts)}\n`)
}

export function isHeld(directory: string): boolean {
  return existsSync(join(directory, fileName))
}

export function releaseDirectory(directory: string): void {
  rmSync(join(directory, fileName), { force: true })
}

export function openHold(directory: string): Hold & { close(): void } {
  const path = join(directory, fileName)
  let facts = readFacts(path)
  const listeners = new Set<() => void>()
  const look = () => {
    if (facts === null || existsSync(path)) return
    facts = null
    clearInterval(timer)
    for (const listener of listeners) listener()
  }
  const timer = facts === null ? undefined : setInterval(look, pollMs).unref()
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  return {
    get: () => facts,
    released: async (signal) => void (await waitFor(subscribe, () => (facts === null ? true : null), signal)),
    release() {
      releaseDirectory(directory)
      look()
    },
    close: () => clearInterval(timer),
  }
}

/** A damaged file holds the server too. */
function readFacts(path: string): HoldFacts | null {
  if (!existsSync(path)) return null
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    const unknown = new Date(0).toISOString()
    return { restored_at: unknown, backup_at: unknown }
  }
}
