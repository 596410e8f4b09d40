// Where the matches are in the whole log, next to the scroll bar.
import { useMemo } from 'react'
import type { Hit } from './find.ts'
import type { FoldedRows } from './folds.ts'
import styles from './marks.module.css'
import type { RowWindow } from './row-window.ts'

const places = 200
const maxHits = 4_000

export function Marks({ hits, folded, rows }: { hits: readonly Hit[]; folded: FoldedRows; rows: RowWindow }) {
  const total = rows.getTotalSize()
  const marked = useMemo(() => {
    const step = Math.max(1, Math.ceil(hits.length / maxHits))
    const found = new Set<number>()
    for (let at = 0; at < hits.length; at += step) {
      const item = rows.measurementsCache[Math.max(0, folded.indexOf(hits[at]!.number))]
      if (item) found.add(Math.floor((item.start / total) * places))
    }
    return [...found]
  }, [hits, hits.length, folded, total])
  return (
    <div className={styles.marks} aria-hidden="true">
      {marked.map((place) => (
        <i key={place} style={{ top: `${(place / places) * 100}%` }} />
      ))}
    </div>
  )
}
