// One actor in its chart: live, or at a moment of its history.
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { Actor, HistoryEntry } from '../../api/actor.ts'
import { possibleEvents, reachedBy } from '../chart/accepted.ts'
import { stateWords } from '../chart/causes.ts'
import { Chart } from '../chart/chart.tsx'
import { type ChartLayout, layoutQuery } from '../chart/layouts.ts'
import { positionIn } from '../chart/position.ts'
import { progressOf } from '../chart/progress.ts'
import { Strip } from '../chart/strip.tsx'
import { Command } from '../controls/command.tsx'
import { PastClock } from '../live/clock.ts'
import { Mark } from '../look/mark.tsx'
import { shortId } from '../look/short-id.ts'
import { Age } from '../look/times.tsx'
import { toneOf } from '../look/tone.ts'
import { Page } from '../shell/page.tsx'
import { Pending } from '../shell/pending.tsx'
import { NotFound } from '../shell/problem.tsx'
import { Accepted, WhatIf } from './accepted.tsx'
import styles from './actor.module.css'
import { Owner } from './owner.tsx'
import { Parked } from './parked.tsx'
import { actorHistoryQuery, actorQuery, timesQuery } from './queries.ts'
import { RawEvents } from './raw-events.tsx'
import { Replay } from './replay.tsx'
import { useReplayed } from './replayed.ts'
import { States } from './states.tsx'
import { Transitions } from './transitions.tsx'

export function ActorPage() {
  const { kind, id } = useParams({ from: '/charts/$kind/$id' })
  const actor = useQuery(actorQuery(id))
  const history = useQuery(actorHistoryQuery(id))
  const layout = useQuery(layoutQuery(kind))
  if (!actor.data || !history.data || layout.data === undefined)
    return <Pending title={`${kind} ${shortId(id)}`} of={[actor, history, layout]} />
  if (actor.data.kind !== kind || layout.data === null) return <NotFound />
  return <Shown key={id} actor={actor.data} history={history.data} layout={layout.data} />
}

interface ShownProps {
  actor: Actor
  history: HistoryEntry[]
  layout: ChartLayout
}

function Shown({ actor, history, layout }: ShownProps) {
  const { kind, id } = actor
  const { data: times = {} } = useQuery(timesQuery(kind))
  const [pointed, setPointed] = useState<string | null>(null)
  const [tried, setTried] = useState('')
  const replayed = useReplayed(history)
  const { moments, index, isLive, past, until } = replayed
  const steps = progressOf(kind, {}, until)
  const { active } = positionIn(layout, until)
  const events = possibleEvents(layout, active)
  const chosen = events.find(({ event }) => event === tried)
  return (
    <Page title={`${kind} ${shortId(id)}`} mark={actor.parked ? 'parked' : toneOf(actor.status)}>
      <div className="stack">
        <Head actor={actor} />
        {actor.parked && <Parked actor={{ ...actor, parked: actor.parked }} history={history} />}
        {moments.length > 0 && <Replay replayed={replayed} />}
        {steps && until.length > 0 && (
          <PastClock value={past?.at ?? null}>
            <Strip steps={steps} />
          </PastClock>
        )}
        <div className={styles.columns}>
          <aside className={styles.aside}>
            <Accepted actor={actor} events={events} isPast={!isLive} />
            <WhatIf events={events} chosen={tried} onChoose={setTried} />
          </aside>
          <Chart
            kind={kind}
            history={until}
            times={times}
            pointed={pointed}
            {...(chosen && { reached: reachedBy(layout, chosen) })}
          />
        </div>
        {moments.length > 0 && <Transitions moments={moments} index={index} />}
        <States layout={layout} times={times} active={active} onPoint={setPointed} />
        <RawEvents actorId={id} />
        <Command berth={commandFor(actor)} request={{ method: 'GET', path: `/actors/${id}/history` }} />
      </div>
    </Page>
  )
}

function commandFor({ kind, id }: Actor): string {
  const isInHistory = kind === 'deploy' || kind === 'job-run'
  return isInHistory ? `berth history ${id}` : `berth api GET /actors/${id}/history`
}

function Head({ actor }: { actor: Actor }) {
  const { kind, id, status, state, parked, since, restarts, next_at: nextAt } = actor
  return (
    <header className={styles.head}>
      <p className="quiet">
        <Link to="/charts">Charts</Link> /{' '}
        <Link to="/charts/$kind" params={{ kind }}>
          {kind}
        </Link>
      </p>
      <h1>
        <Mark tone={parked ? 'parked' : toneOf(status)} /> {kind} {id !== kind && shortId(id)}
      </h1>
      <p>
        <strong>{parked ? 'Parked' : stateWords(state ?? status)}</strong>
        {since && (
          <span className="quiet">
            {' '}
            since <Age at={since} />
          </span>
        )}
        <span className="quiet">
          {' · '}
          <Owner actor={actor} hasLog />
          {(restarts ?? 0) > 0 &&
            ` · restarted ${restarts} ${restarts === 1 ? 'time' : 'times'} after an error`}
          {nextAt && ` · next at ${new Date(nextAt).toLocaleString()}`}
        </span>
      </p>
      <p className="quiet">
        <code>{id}</code>
      </p>
    </header>
  )
}
