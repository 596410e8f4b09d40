// Which of the changed paths a service watches.
import { sharedTurns } from '../../async/shared-turns.ts'
import { openWatchedPaths } from '../../domain/watched-paths.ts'

/** The first path that the patterns cover; null without one. */
export function firstWatched(patterns: string[], paths: string[]): Promise<string | null> {
  return sharedTurns.runSteps('automatic deploys', findWatched(patterns, paths))
}

function* findWatched(patterns: string[], paths: string[]): Generator<void, string | null> {
  const decisive = openWatchedPaths(patterns)
  for (const path of paths) {
    const found = yield* decisive(path)
    if (found?.isExclusion === false) return path
  }
  return null
}
