// The states of a chart: what the actor does in each, and how long that takes.
import type { ChartLayout } from '../chart/layouts.ts'
import type { StateTimes } from '../chart/state-note.tsx'
import { TableHead } from '../controls/table-head.tsx'
import { duration } from '../look/times.tsx'
import styles from './table.module.css'

interface StatesProps {
  layout: ChartLayout
  times: Record<string, StateTimes>
  counts?: Record<string, number>
  active?: ReadonlySet<string>
  onPoint(id: string | null): void
}

export function States({ layout, times, counts, active, onPoint }: StatesProps) {
  const headings = ['State', 'What it does', 'Median', 'p90', 'At most']
  return (
    <section>
      <h2>States</h2>
      <div className={styles.box}>
        <table className={styles.table}>
          <TableHead names={counts ? [...headings, 'Now'] : headings} />
          <tbody>
            {layout.states.slice(1).map((state) => (
              <tr
                key={state.id}
                data-active={active?.has(state.id) ?? false}
                onPointerEnter={() => onPoint(state.id)}
                onPointerLeave={() => onPoint(null)}
              >
                <th scope="row">
                  <button
                    type="button"
                    className={styles.state}
                    onFocus={() => onPoint(state.id)}
                    onBlur={() => onPoint(null)}
                  >
                    {state.id}
                  </button>
                </th>
                <td className={styles.text}>{state.summary}</td>
                <Times times={times[state.id]} />
                {counts && <td>{counts[state.id] ?? ''}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function Times({ times }: { times: StateTimes | undefined }) {
  return (
    <>
      <td>{times && times.count > 0 && duration(times.median_ms)}</td>
      <td>{times && times.count > 0 && duration(times.p90_ms)}</td>
      <td>{times && times.deadline_ms !== null && duration(times.deadline_ms)}</td>
    </>
  )
}
