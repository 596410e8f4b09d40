// Work that must not run during a build: done before the first build starts and after the last one ends.
import type { BuildDriver, Builder } from './build.ts'
import type { BuildCache } from './build-cache.ts'

/**
 * Answers what runs a build. `work` is done while none runs; one that rejects is tried again at the next
 * chance, and no build fails of it.
 */
export function betweenBuilds(work: () => Promise<void>): <T>(build: () => Promise<T>) => Promise<T> {
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

/** The driver with what is done around its builds, of which there may be many at a time. */
export function tidied(driver: BuildDriver, cache: BuildCache): Builder {
  const run = betweenBuilds(driver.tidy)
  return { build: (request) => cache.during(() => run(() => driver.build(request))) }
}
