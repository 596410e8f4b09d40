// A build that needs BuildKit while BuildKit hangs. It waits without a build slot, so other builds can run.
import type { BuilderWatch } from '../../../docker/build/build-fallback.ts'
import { codeOf, messageOf } from '../../../errors.ts'
import { duration } from '../../../quantities.ts'
import type { DeployLog } from '../log.ts'

interface Waiting {
  builderWatch: Pick<BuilderWatch, 'waitUntilWorking'>
  log: Pick<DeployLog, 'info'>
  /** The limit of each wait. When it is reached, the build's own error is thrown. */
  timeoutMs: number
  signal: AbortSignal
}

export async function retryWhileBuilderUnavailable(
  { builderWatch, log, timeoutMs, signal }: Waiting,
  build: () => Promise<void>,
): Promise<void> {
  for (;;) {
    try {
      return await build()
    } catch (error) {
      if (codeOf(error) !== 'builder_hangs') throw error
      log.info(`${messageOf(error)}: waiting until it works, for at most ${duration(timeoutMs)}`)
      log.info('a restart of the Docker engine ends this, and interrupts every service')
      const expired = AbortSignal.timeout(timeoutMs)
      await builderWatch.waitUntilWorking(AbortSignal.any([signal, expired])).catch(() => {
        signal.throwIfAborted()
        throw error
      })
      log.info("the Docker engine's BuildKit works again")
    }
  }
}
