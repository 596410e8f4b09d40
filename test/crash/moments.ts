// Moments to kill a daemon at: right behind a request, or when something of it came to be so.
// None of them is waited for for ever; where nothing of that kind happens, any other moment does.
import type { AskedRequest, Client } from './client.ts'
import type { Victim } from './victim.ts'

export interface SeenChange {
  kind: string
  id: string
  status: string
}

const patienceMs = 5000

/** Until the next request is sent that changes something and is of that kind. */
export async function untilRequest(
  client: Client,
  isMeant: (request: AskedRequest) => boolean = () => true,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const giveUp = setTimeout(resolve, patienceMs)
    client.onNextChange(isMeant, () => {
      clearTimeout(giveUp)
      resolve()
    })
  })
}

/** Until the change feed tells of such a change. */
export async function untilChange(victim: Victim, isMeant: (change: SeenChange) => boolean): Promise<void> {
  const api = await victim.whenUp()
  const signal = AbortSignal.timeout(patienceMs)
  try {
    for await (const { event, data } of api.events('/events', { signal }))
      if (event === 'change' && isMeant(JSON.parse(data))) return
  } catch {
    // It did not happen in time, or the daemon went.
  }
}
