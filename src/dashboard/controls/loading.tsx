// Keeps the place of what is being read, so that nothing moves when it arrives. It is not seen at first: most
// answers come sooner.
import styles from './loading.module.css'

export function Loading({ rows = 3 }: { rows?: number }) {
  return (
    <div className={styles.loading} role="status">
      <span className="hidden">Loading…</span>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className={styles.row} />
      ))}
    </div>
  )
}
