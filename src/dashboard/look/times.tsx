// Ages and durations, in the words of the command line.
import { useNow } from '../live/clock.ts'
import { dateTime } from './clock-time.ts'

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const

/** `4.1s`, `2m 5s`, `3h 12m`. */
export function duration(ms: number): string {
  if (ms < 60_000) return `${(Math.floor(Math.max(0, ms) / 100) / 10).toFixed(1)}s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)}m ${Math.floor((ms % 60_000) / 1000)}s`
  return `${Math.floor(ms / 3_600_000)}h ${Math.floor((ms % 3_600_000) / 60_000)}m`
}

/** `~6s`, `~0.4s`: never more than it was. */
export function roughly(ms: number): string {
  return ms < 1_000 || ms >= 60_000 ? `~${duration(ms)}` : `~${Math.floor(ms / 1000)}s`
}

/** `now`, `24s ago`, `2h ago`. */
function age(ms: number): string {
  if (ms < 5_000) return 'now'
  return `${rough(ms)} ago`
}

/** With its day and time for who points at it. */
export function Age({ at, wordsOf = age }: { at: string; wordsOf?(ms: number): string }) {
  const ms = useNow(1_000) - Date.parse(at)
  return (
    <time dateTime={at} title={dateTime(Date.parse(at))}>
      {wordsOf(ms)}
    </time>
  )
}

/** `in 3h`, of a moment ahead. */
export function Until({ at }: { at: string }) {
  return <Age at={at} wordsOf={(ms) => (ms > -1_000 ? 'now' : `in ${rough(-ms)}`)} />
}

function rough(ms: number): string {
  const [unit, size] = units.find(([, size]) => ms >= size) ?? ['s', 1_000]
  return `${Math.floor(ms / size)}${unit}`
}
