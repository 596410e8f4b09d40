// One clock for everything that shows a time that passes: one timer for the page, not one for each row.
import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

/** In ms; advances every quarter of a second while something shows it. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}

function subscribe(listener: () => void): () => void {
  now = Date.now()
  listeners.add(listener)
  timer ??= setInterval(tick, 250)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function tick(): void {
  if (document.hidden) return
  now = Date.now()
  for (const listener of listeners) listener()
}
