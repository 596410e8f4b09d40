// A fence per actor: an effect starts only after the aborted effects of the same actor have ended.
// Without it a cleanup could finish before an aborted create does, and leave a container behind. Fences
// are keyed by id, so they survive a restart of the actor.

interface Effect {
  aborted: boolean
  ended: Promise<void>
}

export interface Fences {
  /** Waits for aborted effects, up to the time limit. After it, `late` resolves with their end. */
  pass(actorId: string): Promise<{ late: Promise<void> | null }>
  /** Tracks a running effect until it settles. Returns `work` unchanged. */
  guard<T>(actorId: string, signal: AbortSignal, work: Promise<T>): Promise<T>
  /** Resolves when every effect has ended, at the latest after `timeoutMs`. */
  settled(timeoutMs: number): Promise<void>
}

export function createFences(boundMs = 30_000): Fences {
  const effects = new Map<string, Set<Effect>>()

  return {
    async pass(actorId) {
      const aborted = [...(effects.get(actorId) ?? [])].filter((effect) => effect.aborted)
      if (aborted.length === 0) return { late: null }
      const allEnded = Promise.all(aborted.map((effect) => effect.ended)).then(() => undefined)
      return { late: (await withinBound(allEnded, boundMs)) ? null : allEnded }
    },

    guard(actorId, signal, work) {
      const effect: Effect = { aborted: signal.aborted, ended: work.then(noop, noop) }
      const running = effects.get(actorId) ?? new Set()
      effects.set(actorId, running.add(effect))
      const markAborted = () => {
        effect.aborted = true
      }
      signal.addEventListener('abort', markAborted)
      void effect.ended.then(() => {
        // Node keeps a combined signal in memory as long as it has a listener.
        signal.removeEventListener('abort', markAborted)
        running.delete(effect)
        if (running.size === 0) effects.delete(actorId)
      })
      return work
    },

    async settled(timeoutMs) {
      const all = [...effects.values()].flatMap((running) => [...running].map((effect) => effect.ended))
      await withinBound(Promise.all(all), timeoutMs)
    },
  }
}

async function withinBound(work: Promise<unknown>, boundMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), boundMs)
  })
  const ended = await Promise.race([work.then(() => true), expired])
  clearTimeout(timer)
  return ended
}

function noop(): void {}
