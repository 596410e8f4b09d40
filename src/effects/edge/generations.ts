// Which generation of the edge takes requests, how the next one replaces it, and when an old one is removed.
// Everything is read from the processes themselves: after a crash at any moment the newest one that accepts
// connections is the edge, and all others are retired.

import type { EdgeFiles } from '../../edge/files.ts'
import {
  closeListeners,
  findAccepting,
  generationOf,
  hasConnections,
  isAccepting,
  listGenerations,
  retiredAt,
} from '../../edge/generations.ts'
import { serves, servesWithin } from '../../edge/host-process.ts'
import { Failure, messageOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import type { EdgeRounds } from './haproxy-edge.ts'
import type { Launcher } from './launcher.ts'

export interface GenerationParts {
  files: EdgeFiles
  rounds: Pick<EdgeRounds, 'follow' | 'round'>
  launcher: Launcher
  logger: Logger
}

/** How long HAProxy keeps connections open after a reload (`hard-stop-after`). */
const hardStopMs = 60 * 60 * 1000
/** How long to wait for a generation that was starting when the daemon ended. */
const startTimeoutMs = 10_000
const responseTimeoutMs = 5_000
const minIdleMs = 2_000

/** Follows the generation that accepts connections. Throws `edge_unavailable` if none does. */
export async function followAccepting({ files, rounds }: GenerationParts): Promise<EdgeFiles> {
  const current = await findAccepting(files)
  if (current === null) throw new Failure('edge_unavailable', 'HAProxy does not respond')
  rounds.follow(current, othersThan(current))
  return current
}

/** Makes exactly one generation accept connections, and follows it. */
export async function ensureGeneration(parts: GenerationParts, signal: AbortSignal): Promise<EdgeFiles> {
  const { files, launcher, rounds } = parts
  const accepting = await findAccepting(files)
  const newest = listGenerations(files).at(-1)!
  if (accepting === null) {
    // A retired generation never accepts connections again, but holds the listening sockets until it ends.
    const previous = await findRunning(files)
    const isRetired = previous?.generation === newest.generation
    const next = isRetired ? generationOf(files, newest.generation + 1) : newest
    rounds.follow(next, [])
    await launcher.start(next, previous, null, signal)
    return followAccepting(parts)
  }
  if (newest.generation > accepting.generation && retiredAt(newest) === null) {
    // An upgrade was interrupted. Its process may soon accept connections.
    await servesWithin(newest, startTimeoutMs, signal, async () => isAccepting(newest))
    if (!(await serves(newest))) await launcher.remove(newest)
  }
  return followAccepting(parts)
}

/** If a step fails, the previous generation continues to serve. Throws `upgrade_failed` with the reason. */
export async function replaceGeneration(parts: GenerationParts, image: string | null, signal: AbortSignal) {
  const { files, launcher, rounds } = parts
  const previous = await followAccepting(parts)
  const next = generationOf(files, listGenerations(files).at(-1)!.generation + 1)
  try {
    await launcher.start(next, previous, image, signal)
  } catch (error) {
    signal.throwIfAborted()
    throw new Failure('upgrade_failed', `the new edge does not start: ${messageOf(error)}`)
  }
  try {
    rounds.follow(next, othersThan(next))
    await rounds.round()
  } catch (error) {
    signal.throwIfAborted()
    await retire(parts, next)
    rounds.follow(previous, othersThan(previous))
    throw new Failure('upgrade_failed', `the new edge refuses the routes: ${messageOf(error)}`)
  }
  await retire(parts, previous)
  return next
}

/** Returns false if a generation other than `current` is now the newest that accepts connections. */
export async function retireOldGenerations(
  parts: GenerationParts,
  current: EdgeFiles,
  idle: IdleSince,
): Promise<boolean> {
  const others = listGenerations(parts.files).filter(({ generation }) => generation !== current.generation)
  for (const one of others) {
    if (one.generation > current.generation && (await isAccepting(one))) return false
    if (await hasEnded(parts, one, idle)) {
      await parts.launcher.remove(one)
      parts.logger.info({ generation: one.generation }, 'a retired edge has ended')
    }
  }
  parts.rounds.follow(current, othersThan(current))
  return true
}

/** Since when a generation has no connection, by its number. */
export type IdleSince = Map<number, number>

async function hasEnded(parts: GenerationParts, files: EdgeFiles, idle: IdleSince): Promise<boolean> {
  const { generation } = files
  const bound = AbortSignal.timeout(2 * responseTimeoutMs)
  if (!(await servesWithin(files, responseTimeoutMs, bound).catch(() => false))) return true
  const since = retiredAt(files)
  if (since === null || (await isAccepting(files))) await retire(parts, files)
  if (since !== null && Date.now() - since > hardStopMs) return true
  if (await hasConnections(files)) idle.delete(generation)
  else if (!idle.has(generation)) idle.set(generation, Date.now())
  // Its last access lines must still be read.
  return Date.now() - (idle.get(generation) ?? Date.now()) > minIdleMs
}

async function retire({ launcher }: GenerationParts, files: EdgeFiles): Promise<void> {
  await launcher.disableRestart(files)
  await closeListeners(files)
}

/** The newest generation that accepts commands; null if none does. */
async function findRunning(files: EdgeFiles): Promise<EdgeFiles | null> {
  for (const one of listGenerations(files).reverse()) if (await serves(one)) return one
  return null
}

function othersThan(files: EdgeFiles): EdgeFiles[] {
  return listGenerations(files).filter(({ generation }) => generation !== files.generation)
}
