// What an actor does in a state, and how long that takes.
import { duration } from '../look/times.tsx'
import styles from './chart.module.css'
import type { ChartLayout } from './layouts.ts'

/** Of the last actors that were in the state. */
export interface StateTimes {
  count: number
  median_ms: number
  p90_ms: number
  /** After this time it fails. */
  deadline_ms: number | null
}

interface StateNoteProps {
  state: ChartLayout['states'][number] | undefined
  times: StateTimes | undefined
}

export function StateNote({ state, times }: StateNoteProps) {
  if (!state) return null
  return (
    <>
      <strong className={styles.name}>{state.id || state.key}</strong> {state.summary}{' '}
      {times && <span className="quiet">{timesText(times)}</span>}
    </>
  )
}

function timesText({ median_ms, p90_ms, deadline_ms }: StateTimes): string {
  const limit = deadline_ms === null ? '' : ` · at most ${duration(deadline_ms)}`
  return `Median ${duration(median_ms)} · p90 ${duration(p90_ms)}${limit}`
}
