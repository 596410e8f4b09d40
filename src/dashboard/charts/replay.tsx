// A slider over the transitions of an actor, above a ruler of the time that they took.
import { Pause, Play, SkipBack, SkipForward, StepBack, StepForward } from 'lucide-react'
import { type KeyboardEvent as ReactKeyEvent, useEffect, useEffectEvent, useState } from 'react'
import { causeWords, stateWords } from '../chart/causes.ts'
import { clockTime } from '../look/clock-time.ts'
import styles from './replay.module.css'
import type { Replayed } from './replayed.ts'
import { Ruler } from './ruler.tsx'

const stepMs = 250

interface ReplayProps {
  /** Of a history that is not empty. */
  replayed: Replayed
  hasKeys?: boolean
}

export function Replay({ replayed, hasKeys = true }: ReplayProps) {
  const { moments, index, isLive } = replayed
  const last = moments.length - 1
  const go = (to: number) => replayed.go(to >= last ? null : Math.max(0, to))
  const [isPlaying, togglePlaying] = usePlaying(
    index >= last,
    () => go(index + 1),
    () => go(0),
  )
  useReplayKeys(hasKeys, {
    ArrowLeft: () => go(index - 1),
    ArrowRight: () => go(index + 1),
    Home: () => go(0),
    End: () => go(last),
    ' ': togglePlaying,
  })
  const onKeyDown = (event: ReactKeyEvent) => {
    if (event.key !== ' ') return
    event.preventDefault()
    togglePlaying()
  }
  const play = { label: isPlaying ? 'Pause' : 'Play', icon: isPlaying ? Pause : Play }
  const steps = [
    { label: 'First transition', icon: SkipBack, isOff: index === 0, press: () => go(0) },
    { label: 'One step back', icon: StepBack, isOff: index === 0, press: () => go(index - 1) },
    { ...play, isOff: last === 0, press: togglePlaying },
    { label: 'One step on', icon: StepForward, isOff: index === last, press: () => go(index + 1) },
    { label: 'Last transition', icon: SkipForward, isOff: index === last, press: () => go(last) },
  ]
  const { at, entry } = moments[index]!
  return (
    <section className={styles.replay} aria-label="Replay">
      <div className={styles.bar}>
        {steps.map(({ label, icon: Icon, isOff, press }) => (
          <button
            key={label}
            type="button"
            className={styles.step}
            aria-label={label}
            title={label}
            disabled={isOff}
            onClick={press}
          >
            <Icon size={16} aria-hidden="true" />
          </button>
        ))}
        <input
          type="range"
          aria-label="Transition"
          aria-valuetext={`${index + 1} of ${last + 1}, ${clockTime(at)}, ${stateWords(entry.state)}`}
          min={0}
          max={last}
          value={index}
          onChange={({ target }) => go(target.valueAsNumber)}
          onKeyDown={onKeyDown}
        />
      </div>
      <Ruler moments={moments} index={index} onGo={go} />
      <p className={styles.moment} data-live={isLive}>
        {isLive ? (
          <span>Now · {last + 1} transitions</span>
        ) : (
          <>
            <span>
              Viewing <time dateTime={entry.at}>{clockTime(at)}</time> · {causeWords(entry.event)} ·{' '}
              {index + 1} of {last + 1}
            </span>
            <button type="button" data-kind="small" onClick={() => replayed.go(null)}>
              Back to now
            </button>
          </>
        )}
      </p>
    </section>
  )
}

/** Steps on until the end. From the end it begins at the first transition. */
function usePlaying(isAtEnd: boolean, stepOn: () => void, begin: () => void): [boolean, () => void] {
  const [isPlaying, setPlaying] = useState(false)
  const step = useEffectEvent(stepOn)
  useEffect(() => {
    if (!isPlaying) return
    const timer = setInterval(step, stepMs)
    return () => clearInterval(timer)
  }, [isPlaying])
  useEffect(() => {
    if (isAtEnd) setPlaying(false)
  }, [isAtEnd])
  const toggle = () => {
    if (!isPlaying && isAtEnd) begin()
    setPlaying(!isPlaying)
  }
  return [isPlaying, toggle]
}

/** Where nothing else has the focus: a control has its own use for these keys. */
function useReplayKeys(isOn: boolean, keys: Record<string, () => void>): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const target = event.target as HTMLElement
    const isFree = target === document.body || target.matches('main, h1')
    const run = keys[event.key]
    if (!isOn || !run || !isFree || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    run()
  })
  useEffect(() => {
    const listener = (event: KeyboardEvent) => press(event)
    addEventListener('keydown', listener)
    return () => removeEventListener('keydown', listener)
  }, [])
}
