// What the pages of a deploy and of a job run have in common: the strip, the chart, the log; now or as they
// were at a moment of its history.
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useMemo, useRef, useState } from 'react'
import { Chart } from '../chart/chart.tsx'
import type { Facts } from '../chart/lines.ts'
import { isPresent, progressOf, type Step } from '../chart/progress.ts'
import { Strip, type UsualTimes } from '../chart/strip.tsx'
import type { Replayed } from '../charts/replayed.ts'
import { Command } from '../controls/command.tsx'
import { PastClock } from '../live/clock.ts'
import type { Fold } from '../log/folds.ts'
import type { News } from '../log/news.ts'
import { LogViewer } from '../log/viewer.tsx'
import { useShortcut } from '../shell/shortcuts.ts'
import styles from './run.module.css'

const Replay = lazy(async () => ({ default: (await import('../charts/replay.tsx')).Replay }))

interface RunProps {
  kind: 'deploy' | 'job-run'
  /** In the API. */
  path: string
  /** That shows the same. */
  command: string
  facts: Facts
  /** Undefined until its history is there. */
  replayed: Replayed | undefined
  times?: UsualTimes | undefined
  deadlineAt: string | null
  /** Between the strip and the log: the outcome. */
  children: ReactNode
  /** Next to the log. */
  aside?(steps: Step[]): ReactNode
}

export function Run(props: RunProps) {
  const { kind, path, command, facts, replayed, times, deadlineAt, children, aside } = props
  const { isShown, toggle } = useChart()
  const [news, setNews] = useState<News | null>(null)
  useShortcut('c', 'Show or hide the chart', toggle)
  const history = replayed?.until
  const past = replayed?.past ?? null
  const wasPast = useRef(false)
  wasPast.current ||= past !== null
  const { source, hasPreDeploy, isOnSchedule } = facts
  const steps = useMemo(
    () => (history ? progressOf(kind, { source, hasPreDeploy, isOnSchedule }, history)! : []),
    [kind, history, source, hasPreDeploy, isOnSchedule],
  )
  const folds = useMemo(() => foldsOf(steps), [steps])
  return (
    <>
      {replayed && wasPast.current && (
        <div className={styles.replay}>
          <Suspense>
            <Replay replayed={replayed} hasKeys={past !== null} />
          </Suspense>
        </div>
      )}
      <div className={history ? undefined : styles.noStrip}>
        {history && (
          <PastClock value={past?.at ?? null}>
            <Strip
              steps={steps}
              times={times}
              deadlineAt={past || deadlineAt === null ? null : Date.parse(deadlineAt)}
              sentence={past ? null : sentenceOf(steps, news)}
            />
          </PastClock>
        )}
      </div>
      {children}
      {isShown && history && <Chart kind={kind} history={history} />}
      <div className={styles.columns}>
        <PastClock value={past?.at ?? null}>
          <LogViewer path={path} folds={folds} until={past?.at ?? null} onNews={setNews} />
        </PastClock>
        <aside className={styles.aside} aria-label="Details">
          {aside?.(steps)}
          <div className={styles.tools}>
            <button type="button" data-kind="small" aria-pressed={isShown} onClick={toggle}>
              Chart <kbd>c</kbd>
            </button>
            {replayed && replayed.moments.length > 1 && replayed.isLive && (
              <Link
                to="."
                search={(rest) => ({ ...rest, at: replayed.moments[0]!.entry.revision })}
                hash={true}
              >
                Replay from the beginning
              </Link>
            )}
            <Link to="/charts/$kind/$id" params={{ kind, id: path.slice(path.lastIndexOf('/') + 1) }}>
              Open its chart
            </Link>
            <Command berth={command} request={{ method: 'GET', path }} />
          </div>
        </aside>
      </div>
    </>
  )
}

/** The chart is in the address, so that a link shows it. */
function useChart(): { isShown: boolean; toggle(): void } {
  const { chart: isShown = false } = useSearch({ strict: false })
  const navigate = useNavigate()
  const toggle = () => {
    const search = ({ chart: _, ...rest }: { chart?: true }) =>
      isShown ? rest : { ...rest, chart: true as const }
    void navigate({ to: '.', search, replace: true })
  }
  return { isShown, toggle }
}

/** The newest line of the present step, as the command line shows it. */
function sentenceOf(steps: Step[], news: News | null): string | null {
  const present = steps.find(isPresent)
  if (!present) return null
  if (news && present.startedAt !== null && news.at >= present.startedAt) return news.text
  return present.state === 'waiting' ? 'Waiting for its turn.' : null
}

/** The steps that have begun, as the parts of the log. */
function foldsOf(steps: Step[]): Fold[] {
  return steps.flatMap((step) => {
    const { id, label, state, startedAt, durationMs, waitedMs } = step
    const isRest = state === 'done' && durationMs === null
    if (startedAt === null || isRest) return []
    const endedAt = durationMs === null ? null : new Date(startedAt + durationMs + waitedMs).toISOString()
    // What a step that was left has written is open.
    const shown = isPresent(step) ? 'current' : state === 'done' ? 'done' : 'failed'
    return [{ id, title: label, startedAt: new Date(startedAt).toISOString(), endedAt, state: shown }]
  })
}
