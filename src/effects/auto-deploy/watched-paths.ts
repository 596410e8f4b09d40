// Which of the changed paths a service watches.
import { setImmediate } from 'node:timers/promises'
import { openWatchedPaths } from '../../domain/watched-paths.ts'

/** How long paths are matched before other work gets its turn. */
const sliceMs = 10

/** The first path that the patterns cover; null without one. */
export async function firstWatched(patterns: string[], paths: string[]): Promise<string | null> {
  const decisive = openWatchedPaths(patterns)
  let endsAt = performance.now() + sliceMs
  for (const path of paths) {
    if (decisive(path)?.isExclusion === false) return path
    if (performance.now() < endsAt) continue
    await setImmediate()
    endsAt = performance.now() + sliceMs
  }
  return null
}
