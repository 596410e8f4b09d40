// Work that must not run during a build: done before the first build starts and after the last one ends.
import type { BuildDriver, Builder } from './build.ts'
import type { BuildCache } from './build-cache.ts'

/**
 * Returns a function that runs a build. `work` runs only while no build runs: before the first build and
 * after the last one. If `work` rejects, it is retried at the next opportunity, and no build fails because
 * of it.
 */
export function whenBuildsIdle(work: () => Promise<void>): <T>(build: () => Promise<T>) => Promise<T> {
  let running = 0
  let isDone = Promise.resolve()
  const doWork = () => {
    isDone = isDone.then(work).catch(() => {})
    return isDone
  }
  return async (build) => {
    if (running++ === 0) doWork()
    try {
      await isDone
      return await build()
    } finally {
      if (--running === 0) await doWork()
    }
  }
}

/** Wraps the driver with the cleanup around its builds. Several builds may run concurrently. */
export function withCleanup(driver: BuildDriver, cache: BuildCache): Builder {
  const run = whenBuildsIdle(driver.tidy)
  return { build: (request) => cache.during(() => run(() => driver.build(request))) }
}
