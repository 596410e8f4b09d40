// When deploys went live, from the change feed; polling would disturb the measurement.
import type { Api } from '../support/daemon/api.ts'
import type { Scope } from '../support/system/directory.ts'

export interface LiveMoments {
  /** By the clock of `performance.now()`. */
  liveAt(deployId: string): Promise<number>
}

/** Starts listening. */
export function watchLiveMoments(t: Scope, api: Api): LiveMoments {
  const moments = new Map<string, number>()
  const waiting = new Map<string, (at: number) => void>()
  const over = new AbortController()
  t.after(() => over.abort())

  async function listen(): Promise<void> {
    for await (const { event, data } of api.events('/events', { signal: over.signal })) {
      const { id, status } = JSON.parse(data)
      if (event !== 'change' || status !== 'live' || moments.has(id)) continue
      moments.set(id, performance.now())
      waiting.get(id)?.(moments.get(id)!)
    }
  }

  const listening = listen().catch((error: unknown) => {
    if (!over.signal.aborted) throw error
  })
  // A rejection only matters to callers of `liveAt`.
  listening.catch(() => undefined)
  return {
    async liveAt(id) {
      const moment = moments.get(id)
      if (moment !== undefined) return moment
      const wentLive = new Promise<number>((resolve) => waiting.set(id, resolve))
      const ended = listening.then(() => Promise.reject(new Error('the change feed has ended')))
      return Promise.race([wentLive, ended])
    },
  }
}
