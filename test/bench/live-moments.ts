// When deploys went live, as the change feed tells it: whoever asks again and again would be in their way.
import type { Api } from '../support/api.ts'
import type { Scope } from '../support/directory.ts'

export interface LiveMoments {
  /** On the clock of `performance.now()`. */
  liveAt(deployId: string): Promise<number>
}

/** Listens from now on. */
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
  // Told to who asks for a moment, and to nobody else.
  listening.catch(() => undefined)
  return {
    async liveAt(id) {
      const known = moments.get(id)
      if (known !== undefined) return known
      const told = new Promise<number>((resolve) => waiting.set(id, resolve))
      const ended = listening.then(() => Promise.reject(new Error('the change feed has ended')))
      return Promise.race([told, ended])
    },
  }
}
