// Waits for committed changes and for the Docker engine. Every wait ends with its signal.
import type { ChangeFeed } from '../../storage/store/changes.ts'
import { sleep } from '../async/sleep.ts'
import { waitFor } from '../async/wait-for.ts'
import { codeOf, messageOf } from '../errors.ts'
import type { EnginePorts } from './engine/ports.ts'
import type { SharedPorts } from './ports.ts'

/** Calls `look` now and after each change of that service, until it has a result. */
export function waitForCommit<T>(
  changes: ChangeFeed,
  serviceId: string,
  signal: AbortSignal,
  look: () => T | null,
): Promise<T> {
  const subscribe = (listener: () => void) =>
    changes.subscribe((change) => {
      if (change.service_id === serviceId) listener()
    })
  return waitFor(subscribe, look, signal)
}

/** Waits until the engine responds. Logs the wait if it takes more than a second. */
export async function waitForEngine(
  ports: Pick<EnginePorts, 'engineReady'>,
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<void> {
  const noticeTimer = setTimeout(() => log('waiting for the Docker engine, which does not respond'), 1000)
  try {
    await ports.engineReady(signal)
  } finally {
    clearTimeout(noticeTimer)
  }
}

/** Runs idempotent work, and restarts it whenever the engine becomes unavailable during the work. */
export async function retryWhileEngineUnavailable<T>(
  ports: Pick<EnginePorts, 'engineReady'>,
  signal: AbortSignal,
  work: () => Promise<T>,
  onUnavailable: () => void = () => undefined,
): Promise<T> {
  for (;;) {
    signal.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      if (codeOf(error) !== 'docker_unavailable') throw error
      signal.throwIfAborted()
      onUnavailable()
      await sleep(1000, signal)
      await ports.engineReady(signal)
    }
  }
}

export interface CleanupPorts extends Pick<EnginePorts, 'engineReady'>, Pick<SharedPorts, 'logger'> {}

/** Repeats a cleanup, by default one that Docker refuses: anything left holds a disk or an address. */
export async function retryUntilCleanedUp(
  ports: CleanupPorts,
  id: string,
  signal: AbortSignal,
  work: () => Promise<void>,
  mayRetry = (error: unknown) => codeOf(error) === 'docker_error',
) {
  let logged: string | null = null
  for (let pauseMs = 250; ; pauseMs = Math.min(30_000, pauseMs * 2)) {
    try {
      return await retryWhileEngineUnavailable(ports, signal, work)
    } catch (error) {
      signal.throwIfAborted()
      if (!mayRetry(error)) throw error
      const reason = messageOf(error)
      if (reason !== logged) ports.logger.warn({ actor: id, reason }, 'a cleanup failed; retrying')
      logged = reason
      await sleep(pauseMs, signal)
    }
  }
}
