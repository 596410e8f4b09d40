// One clock for everything that shows a time that passes: one timer for the page, not one for each row. It
// shows the server's time.
import { createContext, useContext, useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
const tickMs = 250
let aheadMs = 0
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

/** The time of a past moment, for what is shown as it was then. */
export const PastClock = createContext<number | null>(null)

/** As it was when the message was sent: some ms ago. */
export function setServerTime(ms: number): void {
  aheadMs = ms - Date.now()
}

/** In ms; advances every quarter of a second, or in longer steps, while something shows it. */
export function useNow(stepMs = tickMs): number {
  const passing = useSyncExternalStore(subscribe, () => Math.floor(now / stepMs) * stepMs)
  return useContext(PastClock) ?? passing
}

function subscribe(listener: () => void): () => void {
  now = Date.now() + aheadMs
  listeners.add(listener)
  timer ??= setInterval(tick, tickMs)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function tick(): void {
  if (document.hidden) return
  now = Date.now() + aheadMs
  for (const listener of listeners) listener()
}
