// What the actor accepts in its state, with a button where there is one, and where any event would lead.
import { useState } from 'react'
import type { Actor } from '../../api/actor.ts'
import type { Possible, Way } from '../chart/accepted.ts'
import { causeWords } from '../chart/causes.ts'
import { Action } from '../controls/action.tsx'
import { Code } from '../controls/command.tsx'
import { Dialog } from '../controls/dialog.tsx'
import styles from './accepted.module.css'
import { type Deed, deedFor } from './deeds.ts'

interface AcceptedProps {
  actor: Actor
  events: Possible[]
  /** Of a moment in the past nothing can be done. */
  isPast: boolean
}

export function Accepted({ actor, events, isPast }: AcceptedProps) {
  const commands = events.filter(({ isCommand }) => isCommand)
  const own = commands.filter(({ event }) => deedFor(actor.kind, event, actor))
  const reports = commands.filter((one) => !own.includes(one))
  const unavailable = ({ event }: Possible) => {
    if (isPast) return 'This is a past moment'
    if (actor.parked) return 'The actor is parked'
    return actor.accepts.includes(event) ? null : 'The conditions are not met now'
  }
  return (
    <section className={styles.accepted}>
      <h2>{isPast ? 'Accepted then' : 'Accepted now'}</h2>
      {own.length === 0 && <p className="quiet">No command.</p>}
      <ul>
        {own.map((one) => (
          <li key={one.event}>
            <DeedControl deed={deedFor(actor.kind, one.event, actor)!} unavailable={unavailable(one)} />
            <Ways ways={one.ways} />
          </li>
        ))}
      </ul>
      {reports.length > 0 && (
        <>
          <h3>Sent by the server</h3>
          <ul>
            {reports.map(({ event, ways }) => (
              <li key={event}>
                <code>{event}</code> <Ways ways={ways} />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

function DeedControl({ deed, unavailable }: { deed: Deed; unavailable: string | null }) {
  const [isAsking, setAsking] = useState(false)
  if (deed.kind === 'command') return <Code text={deed.berth} />
  if (deed.kind === 'page') return <a href={deed.href}>{deed.label}</a>
  const { label, run, accepted, question } = deed
  const action = (
    <Action
      run={run}
      accepted={() => accepted}
      kind={question ? 'danger' : 'plain'}
      unavailable={unavailable}
    >
      {label}
    </Action>
  )
  if (!question || unavailable !== null) return action
  return (
    <>
      <button type="button" onClick={() => setAsking(true)}>
        {label}…
      </button>
      {isAsking && (
        <Dialog title={`${label}?`} actions={action} onClose={() => setAsking(false)}>
          <p>{question}</p>
        </Dialog>
      )}
    </>
  )
}

function Ways({ ways }: { ways: Way[] }) {
  return (
    <span className={styles.ways}>
      {ways.map(({ to, condition, stays }, index) => (
        <span key={index}>
          {stays ? 'stays' : `→ ${to}`}
          {condition !== null && ` if ${condition}`}
        </span>
      ))}
    </span>
  )
}

interface WhatIfProps {
  events: Possible[]
  chosen: string
  onChoose(event: string): void
}

/** Nothing is sent: it only marks states in the chart. */
export function WhatIf({ events, chosen, onChoose }: WhatIfProps) {
  const option = ({ event }: Possible) => (
    <option key={event} value={event}>
      {causeWords(event)}
    </option>
  )
  const found = events.find(({ event }) => event === chosen)
  return (
    <section className={styles.accepted}>
      <h2>What if…</h2>
      <select
        aria-label="Event to try; nothing is sent"
        value={found ? chosen : ''}
        onChange={({ target }) => onChoose(target.value)}
      >
        <option value="">Choose an event</option>
        <optgroup label="Commands and reports">{events.filter((one) => one.isCommand).map(option)}</optgroup>
        <optgroup label="How the present step ends">
          {events.filter((one) => !one.isCommand).map(option)}
        </optgroup>
      </select>
      <p className="quiet" role="status">
        {found ? <Ways ways={found.ways} /> : 'Marks where an event would lead. Nothing is sent.'}
      </p>
    </section>
  )
}
