// Which of the changed paths a service watches.
import { setImmediate } from 'node:timers/promises'
import ignore from 'ignore'

/** Paths that are matched before other work gets its turn. */
const pathsAtOnce = 500

/** The first path that a pattern covers; null without one. Patterns are those of .gitignore. */
export async function firstWatched(patterns: string[], paths: string[]): Promise<string | null> {
  const watched = ignore({ ignorecase: false, allowRelativePaths: true }).add(patterns)
  for (let from = 0; from < paths.length; from += pathsAtOnce) {
    const found = paths.slice(from, from + pathsAtOnce).find((path) => watched.ignores(path))
    if (found !== undefined) return found
    await setImmediate()
  }
  return null
}
