// The mark of a status: a shape that is clear without color. The word stands next to it.
import styles from './mark.module.css'
import type { Tone } from './tone.ts'

const shapes: Record<Tone, React.ReactNode> = {
  waiting: <circle cx="6" cy="6" r="4.5" fill="none" strokeWidth="2" />,
  working: (
    <>
      <circle cx="6" cy="6" r="4.5" fill="none" strokeWidth="2" opacity="0.35" />
      <path className={styles.turning} d="M6 1.5A4.5 4.5 0 0 1 10.5 6" fill="none" strokeWidth="2" />
    </>
  ),
  healthy: <circle cx="6" cy="6" r="5.5" stroke="none" />,
  unhealthy: <path d="M6 0.5 11.5 11H0.5Z" stroke="none" />,
  failed: <path d="M1 1H11V11H7.5L6 8.5 4.5 11H1Z" stroke="none" />,
  stopped: <rect x="1" y="4.5" width="10" height="3" stroke="none" />,
  parked: <path d="M4 0.8H8L11.2 4V8L8 11.2H4L0.8 8V4Z" stroke="none" />,
}

/** With `label` it stands alone, as in a row of marks; otherwise the word is next to it. */
export function Mark({ tone, label }: { tone: Tone; label?: string }) {
  return (
    <svg
      className={styles.mark}
      data-tone={tone}
      viewBox="0 0 12 12"
      width="12"
      height="12"
      role="img"
      aria-hidden={!label}
    >
      <title>{label ?? ''}</title>
      {shapes[tone]}
    </svg>
  )
}
