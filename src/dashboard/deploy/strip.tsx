// The progress of a deploy as one line of steps.
import { useNow } from '../live/clock.ts'
import { Mark, type Tone } from '../look/mark.tsx'
import { duration } from '../look/times.tsx'
import type { Step } from './steps.ts'
import styles from './strip.module.css'

const tones: Record<Step['state'], Tone> = {
  done: 'healthy',
  current: 'working',
  failed: 'failed',
  canceled: 'stopped',
  ahead: 'waiting',
}

export function Strip({ steps }: { steps: Step[] }) {
  return (
    <ol className={styles.strip} aria-label="Progress">
      {steps.map((step) => (
        <li
          key={step.name}
          className={styles.step}
          data-state={step.state}
          aria-current={step.state === 'current' ? 'step' : undefined}
        >
          <span className={styles.mark}>
            <Mark tone={tones[step.state]} label={step.state} />
          </span>
          <span className={styles.label}>{step.label}</span>
          <span className={styles.time}>
            <StepTime step={step} />
          </span>
        </li>
      ))}
    </ol>
  )
}

function StepTime({ step: { state, durationMs, startedAt } }: { step: Step }) {
  if (durationMs !== null) return <>{duration(durationMs)}</>
  return state === 'current' && startedAt !== null ? <Running since={startedAt} /> : null
}

function Running({ since }: { since: number }) {
  return <>{duration(useNow() - since)}</>
}
