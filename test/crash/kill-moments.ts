// Moments at which to kill a daemon: right after a request, or after a change.
// Each wait has a timeout, after which any moment will do.
import type { ApiRequest, Client } from './client.ts'
import type { Victim } from './victim.ts'

export interface SeenChange {
  kind: string
  id: string
  status: string
}

const timeoutMs = 5000

/** Waits for the next modifying request that matches. */
export async function untilRequest(
  client: Client,
  isMatch: (request: ApiRequest) => boolean = () => true,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const giveUp = setTimeout(resolve, timeoutMs)
    client.onNextChange(isMatch, () => {
      clearTimeout(giveUp)
      resolve()
    })
  })
}

/** Waits for a matching event of the change feed. */
export async function untilChange(victim: Victim, isMatch: (change: SeenChange) => boolean): Promise<void> {
  const api = await victim.whenUp()
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    for await (const { event, data } of api.events('/events', { signal }))
      if (event === 'change' && isMatch(JSON.parse(data))) return
  } catch {
    // It did not happen in time, or the daemon ended.
  }
}
