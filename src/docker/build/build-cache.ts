// Keeps the build cache of the engine within a size. All users of the engine share that cache. Only the cache
// is pruned, never containers, images or volumes.
import { messageOf } from '../../errors.ts'
import type { Engine } from '../engine/client.ts'
import { post } from '../engine/raw-requests.ts'

export interface BuildCache {
  /** Runs a build. The cache is pruned once no build has run for a while, and no build waits for that. */
  during<T>(build: () => Promise<T>): Promise<T>
  close(): void
}

interface CacheOptions {
  /** Null keeps everything. */
  sizeMb: number | null
  onPruned(bytes: number): void
  onProblem(reason: string): void
  idleMs?: number
  /** The engine measures its whole cache for this, which takes seconds. */
  intervalMs?: number
}

const timeoutMs = 10 * 60_000
const mebibyte = 1024 * 1024

export function openBuildCache(engine: Engine, options: CacheOptions): BuildCache {
  const { idleMs = 5000, intervalMs = 10 * 60_000 } = options
  let running = 0
  let timer: NodeJS.Timeout | undefined
  let prunedAt = Number.NEGATIVE_INFINITY
  const pruneIfDue = () => {
    if (options.sizeMb === null || performance.now() < prunedAt + intervalMs) return
    prunedAt = performance.now()
    void prune(engine, options.sizeMb).then(options.onPruned, (error) => options.onProblem(messageOf(error)))
  }
  return {
    async during(build) {
      running++
      clearTimeout(timer)
      try {
        return await build()
      } finally {
        if (--running === 0) timer = setTimeout(pruneIfDue, idleMs).unref()
      }
    },
    close: () => clearTimeout(timer),
  }
}

/** Removes what no running build uses. Returns the bytes freed. Throws the errors of an engine call. */
export function emptyBuildCache(engine: Engine): Promise<number> {
  return prune(engine, 0)
}

/** Removes the least recently used entries, down to the size. Returns the bytes freed. */
async function prune(engine: Engine, sizeMb: number): Promise<number> {
  const query = { all: true, 'keep-storage': sizeMb * mebibyte }
  const ask = (signal: AbortSignal) => post(engine, { path: '/build/prune', query, signal })
  const { SpaceReclaimed } = await engine.call('prune the build cache', ask, { timeoutMs })
  return Number(SpaceReclaimed)
}
