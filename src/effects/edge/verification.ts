// A request through the edge that must reach one specific instance, before any client's request does. It
// uses a separate socket on which the slot can be chosen; host, pool and upstream are the usual ones.
import { request } from 'node:http'
import { sleep } from '../../async/sleep.ts'
import type { Driver } from '../../edge/driver.ts'
import type { EdgeFiles } from '../../edge/files.ts'
import { poolName, slotName } from '../../edge/routes.ts'
import { Failure } from '../../errors.ts'
import { percentEncode } from '../deploy/check/probes.ts'

export interface Verification {
  pool: number
  slot: number
  host: string
  /** The path of the health check; null if any response is enough. */
  healthPath: string | null
}

const attemptTimeoutMs = 5_000
const attempts = 5
const pauseMs = 200

/** Throws `not_reached` with the unexpected response. */
export async function verifyUpstream(
  files: EdgeFiles,
  driver: Pick<Driver, 'countOpen'>,
  wanted: Verification,
  signal: AbortSignal,
): Promise<void> {
  let problem = 'no response'
  for (let tries = 0; tries < attempts; tries++) {
    signal.throwIfAborted()
    const latest = await sendRequest(files, wanted, signal)
    if (latest === null) return
    problem = latest
    // Without a health path the page may take long to load: an open request at the instance is enough.
    if (problem === timeoutText && wanted.healthPath === null && (await hasOpenRequests(driver, wanted)))
      return
    await sleep(pauseMs, signal)
  }
  const what = `GET ${wanted.healthPath ?? '/'} for ${wanted.host}`
  const failure = new Failure(
    'not_reached',
    `a request through the edge did not reach the instance: ${what} → ${problem}`,
  )
  throw problem === '502' ? failure.with({ reason: 'invalid_response' }) : failure
}

const timeoutText = 'no response in time'

/**
 * Null if the instance responded, otherwise what happened. Rejects with the signal, because a late response
 * must not admit an instance whose verification was aborted.
 */
function sendRequest(
  files: EdgeFiles,
  { host, healthPath, slot }: Verification,
  signal: AbortSignal,
): Promise<string | null> {
  return new Promise<string | null>((resolve, reject) => {
    const outgoing = request(
      {
        socketPath: files.verifySocket,
        path: percentEncode(healthPath ?? '/'),
        headers: { host, 'x-berth-upstream': slotName(slot), 'user-agent': 'Berth' },
        timeout: attemptTimeoutMs,
        agent: false,
      },
      ({ statusCode = 0, headers }) => {
        outgoing.destroy()
        const isReached = headers['x-berth-upstream'] === slotName(slot) && !headers['x-berth-answer']
        const isFine = healthPath === null || (statusCode >= 200 && statusCode < 400)
        resolve(isReached && isFine ? null : String(statusCode))
      },
    )
    outgoing.once('timeout', () => outgoing.destroy(new Error(timeoutText)))
    const giveUp = () => {
      reject(signal.reason)
      outgoing.destroy()
    }
    signal.addEventListener('abort', giveUp)
    outgoing.once('close', () => signal.removeEventListener('abort', giveUp))
    outgoing.once('error', (error) => resolve(error.message))
    outgoing.end()
  })
}

async function hasOpenRequests(
  driver: Pick<Driver, 'countOpen'>,
  { pool, slot }: Verification,
): Promise<boolean> {
  const open = await driver.countOpen(poolName(pool)).catch(() => null)
  return (open?.get(slotName(slot)) ?? 0) > 0
}
