// The main line of a chart as the progress of one actor: where it is, how long that took before, and when it
// times out.
import { Link } from '@tanstack/react-router'
import { type CSSProperties, useContext, useEffect, useRef, useState } from 'react'
import { PastClock, useNow } from '../live/clock.ts'
import { Mark } from '../look/mark.tsx'
import { duration, roughly } from '../look/times.tsx'
import type { Tone } from '../look/tone.ts'
import { type Aside, isPresent, type Step, type StepState } from './progress.ts'
import styles from './strip.module.css'

interface Usual {
  median_ms: number
  p90_ms: number
}

/** By the key of a state: `building`. */
export type UsualTimes = Record<string, Usual>

interface StripProps {
  steps: Step[]
  times?: UsualTimes | undefined
  /** Of the present step, in ms. */
  deadlineAt?: number | null
  /** What happens now, in one sentence. */
  sentence?: string | null
}

const marks: Record<StepState, { tone: Tone; label: string }> = {
  done: { tone: 'healthy', label: 'Done' },
  current: { tone: 'working', label: 'In progress' },
  waiting: { tone: 'waiting', label: 'Waiting' },
  failed: { tone: 'failed', label: 'Failed' },
  canceled: { tone: 'stopped', label: 'Canceled' },
  parked: { tone: 'parked', label: 'Parked' },
  ahead: { tone: 'waiting', label: 'Ahead' },
}

export function Strip({ steps, times = {}, deadlineAt = null, sentence = null }: StripProps) {
  const present = steps.find(isPresent)
  const last = steps.findLast(({ state }) => state !== 'ahead')
  const end = last && marks[last.state].label
  const spoken = useCalm([last?.label, present ? sentence : end].filter(Boolean).join(': '))
  return (
    <div className={styles.frame} data-past={useContext(PastClock) !== null}>
      <ol className={styles.strip} aria-label="Progress">
        {steps.map((step, index) => (
          <li
            key={`${step.id} ${index}`}
            className={styles.step}
            data-state={step.state}
            data-off={step.asides.at(-1)?.ramp}
            aria-current={isPresent(step) ? 'step' : undefined}
            style={{ flexGrow: growthOf(usualOf(step, times)) }}
          >
            <span className={styles.mark}>
              <Mark {...marks[step.state]} />
            </span>
            <Rail step={step} usual={usualOf(step, times)} deadlineAt={deadlineAt} />
            <span className={styles.label}>
              {step.revision === null || isPresent(step) ? (
                step.label
              ) : (
                <MomentLink label={step.label} at={step.revision} />
              )}
            </span>
            <span className={styles.time}>
              <StepTime step={step} usual={usualOf(step, times)} />
            </span>
            {step.isResumed && <span className={styles.notch}>Resumed after a restart</span>}
            {step.asides.length > 0 && <Asides asides={step.asides} />}
          </li>
        ))}
      </ol>
      {present && (
        <p className={styles.sentence}>
          <span>{sentence}</span>
          {deadlineAt !== null && <TimeLeft until={deadlineAt} />}
        </p>
      )}
      <p className="hidden" role="status">
        {spoken}
      </p>
    </div>
  )
}

function MomentLink({ label, at }: { label: string; at: number }) {
  const search = (rest: object) => ({ ...rest, at })
  return (
    <Link to="." search={search} hash={true} resetScroll={false} title="As it was when this began">
      {label}
    </Link>
  )
}

export function usualOf({ id }: Step, times: UsualTimes): Usual | undefined {
  return times[id.split('.').at(-1)!]
}

/** A phase that takes a hundred times as long is ten times as wide. */
function growthOf(usual: Usual | undefined): number {
  return Math.sqrt(usual?.median_ms ?? 1000)
}

interface PartProps {
  step: Step
  usual: Usual | undefined
}

function Rail({ step, usual, deadlineAt }: PartProps & { deadlineAt: number | null }) {
  const { state, startedAt } = step
  if (state !== 'current' || startedAt === null) return <span className={styles.rail} />
  const limitMs = deadlineAt === null ? null : deadlineAt - startedAt
  const usualMs = usual?.median_ms ?? (limitMs === null ? null : limitMs / 2)
  if (usualMs === null) return <span className={styles.rail} data-is-open />
  return <FillingRail startedAt={startedAt} usualMs={usualMs} limitMs={limitMs} />
}

interface Filling {
  startedAt: number
  usualMs: number
  limitMs: number | null
}

function FillingRail({ startedAt, usualMs, limitMs }: Filling) {
  const elapsedMs = useNow() - startedAt
  const style = {
    '--fill': shareOf(elapsedMs, usualMs),
    '--tick': limitMs === null ? 1 : shareOf(limitMs, usualMs),
  } as CSSProperties
  return (
    <span className={styles.rail} style={style}>
      <span className={styles.fill} />
      {limitMs !== null && <span className={styles.tick} />}
    </span>
  )
}

/** Nine tenths of the segment are the usual time; what takes longer approaches its end. */
function shareOf(ms: number, usualMs: number): number {
  if (ms <= 0) return 0
  return ms <= usualMs ? (0.9 * ms) / usualMs : 1 - (0.1 * usualMs) / ms
}

function StepTime({ step, usual }: PartProps) {
  const { state, startedAt, waitsSince, durationMs, waitedMs } = step
  if (state === 'ahead') return usual ? roughly(usual.median_ms) : null
  if (durationMs !== null) return <PastTime durationMs={durationMs} waitedMs={waitedMs} usual={usual} />
  if (startedAt === null || !isPresent(step)) return null
  return <RunningTime since={waitsSince ?? startedAt} usual={state === 'current' ? usual : undefined} />
}

interface Past {
  durationMs: number
  waitedMs: number
  usual: Usual | undefined
}

function PastTime({ durationMs, waitedMs, usual }: Past) {
  return (
    <>
      {duration(durationMs)}
      {usual && durationMs > usual.p90_ms && (
        <span className={styles.slow} title={`Usually ${duration(usual.median_ms)}`}>
          {' '}
          ▲ +{duration(durationMs - usual.median_ms)}
        </span>
      )}
      {waitedMs > 0 && <span> after {duration(waitedMs)} of waiting</span>}
    </>
  )
}

function RunningTime({ since, usual }: { since: number; usual: Usual | undefined }) {
  const elapsedMs = Math.max(0, useNow() - since)
  if (!usual) return <>{duration(elapsedMs)}</>
  if (elapsedMs <= usual.p90_ms) {
    return (
      <>
        {duration(elapsedMs)} of {roughly(usual.median_ms)}
      </>
    )
  }
  return (
    <>
      {duration(elapsedMs)}{' '}
      <span className={styles.slow}>{duration(elapsedMs - usual.median_ms)} slower than usual</span>
    </>
  )
}

const asideTones = { failed: 'failed', canceled: 'stopped', waiting: 'waiting', after: 'stopped' } as const

function Asides({ asides }: { asides: Aside[] }) {
  return (
    <ul className={styles.asides}>
      {asides.map((aside, index) => (
        <li key={aside.startedAt + aside.label}>
          <Mark tone={index < asides.length - 1 ? 'healthy' : asideTones[aside.ramp]} />
          <span>{aside.label}</span>
          {aside.durationMs !== null && <span className="quiet">{duration(aside.durationMs)}</span>}
        </li>
      ))}
    </ul>
  )
}

function TimeLeft({ until }: { until: number }) {
  const leftMs = Math.max(0, until - useNow())
  return <span className={styles.left}>Times out in {duration(leftMs)}</span>
}

const calmMs = 2000

/** The text, changed at most once every two seconds: a screen reader speaks each change. */
function useCalm(text: string): string {
  const [spoken, setSpoken] = useState(text)
  const lastAt = useRef(0)
  useEffect(() => {
    const speak = () => {
      lastAt.current = Date.now()
      setSpoken(text)
    }
    const timer = setTimeout(speak, Math.max(0, lastAt.current + calmMs - Date.now()))
    return () => clearTimeout(timer)
  }, [text])
  return spoken
}
