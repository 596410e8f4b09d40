// At most N builds at a time on this host. First come, first served is fair between services here, because a
// service has one running deploy at most: it can never wait twice.

export interface BuildSlots {
  /** Resolves with the function that gives the slot back; rejects when aborted while waiting. */
  take(signal: AbortSignal, onWait: (running: number) => void): Promise<() => void>
}

export function createBuildSlots(count: number): BuildSlots {
  let free = count
  const waiting: (() => void)[] = []

  function giveBack(): void {
    const next = waiting.shift()
    if (next) next()
    else free++
  }

  function taken(): () => void {
    let held = true
    return () => {
      if (held) giveBack()
      held = false
    }
  }

  return {
    async take(signal, onWait) {
      signal.throwIfAborted()
      if (free > 0) {
        free--
        return taken()
      }
      onWait(count)
      await new Promise<void>((resolve, reject) => {
        waiting.push(resolve)
        signal.addEventListener('abort', () => {
          const index = waiting.indexOf(resolve)
          if (index >= 0) waiting.splice(index, 1)
          reject(signal.reason)
        })
      })
      return taken()
    },
  }
}
