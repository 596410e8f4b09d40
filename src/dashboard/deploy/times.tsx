// How long the phases of a deploy took, next to how long they usually take.
import type { Step } from '../chart/progress.ts'
import { type UsualTimes, usualOf } from '../chart/strip.tsx'
import { TableHead } from '../controls/table-head.tsx'
import { duration } from '../look/times.tsx'
import styles from './deploy.module.css'

interface TimesProps {
  steps: Step[]
  times: UsualTimes
  /** The number of deploys that were measured. */
  count: number
}

export function Times({ steps, times, count }: TimesProps) {
  const rows = steps.flatMap((step) => {
    const { label, durationMs } = step
    const usual = usualOf(step, times)
    return usual && durationMs !== null ? [{ label, durationMs, usual }] : []
  })
  if (rows.length === 0) return null
  return (
    <section className={styles.panel}>
      <h2>{count === 1 ? 'Compared with the last deploy' : `Compared with the last ${count} deploys`}</h2>
      <table className={styles.times}>
        <TableHead names={['Phase', 'Time', 'Median']} />
        <tbody>
          {rows.map(({ label, durationMs, usual }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td data-is-slow={durationMs > usual.p90_ms}>
                {durationMs > usual.p90_ms && '▲ '}
                {duration(durationMs)}
              </td>
              <td>{duration(usual.median_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
