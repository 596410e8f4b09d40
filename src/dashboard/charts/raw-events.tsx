// Every event of an actor as it happens, by its own name: also those that its chart ignores, and its effects.
import { useEffect, useReducer, useState } from 'react'
import type { InspectMessage } from '../../api/inspect.ts'
import { TableHead } from '../controls/table-head.tsx'
import { exactTime } from '../look/clock-time.ts'
import { inspectActor } from './inspect.ts'
import styles from './raw-events.module.css'

/** Older ones are dropped. */
const limit = 500

export function RawEvents({ actorId }: { actorId: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className={styles.pane} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <h2>Raw events</h2>
        <span className="quiet">with ignored events and effects, live</span>
      </summary>
      {isOpen && <Events actorId={actorId} />}
    </details>
  )
}

function Events({ actorId }: { actorId: string }) {
  const [{ rows, heldBack, isPaused, isConnected }, dispatch] = useReducer(reduce, start)
  useEffect(
    () =>
      inspectActor(actorId, {
        message: (message) => dispatch({ type: 'received', message }),
        connected: (isConnected) => dispatch({ type: 'connected', isConnected }),
      }),
    [actorId],
  )
  return (
    <>
      <div className={styles.tools}>
        <span className="quiet" role="status">
          {isPaused ? 'Paused' : reception[String(isConnected)]}
        </span>
        <button type="button" data-kind="small" onClick={() => dispatch({ type: 'paused' })}>
          {isPaused ? `Resume${heldBack.length === 0 ? '' : ` (${heldBack.length} new)`}` : 'Pause'}
        </button>
        <button type="button" data-kind="small" onClick={() => dispatch({ type: 'cleared' })}>
          Clear
        </button>
      </div>
      {rows.length === 0 ? (
        <p className="quiet">Waiting for the next event. Earlier transitions are in the table above.</p>
      ) : (
        <Table rows={rows} />
      )}
    </>
  )
}

const reception: Record<string, string> = {
  null: 'Connecting…',
  true: 'Live',
  false: 'Connection lost. Reconnecting…',
}

/** A message, or a gap in the reception. */
interface Row {
  number: number
  message: InspectMessage | null
}

interface State {
  /** Newest first. */
  rows: Row[]
  /** What arrived during the pause, newest first. */
  heldBack: Row[]
  isPaused: boolean
  /** Null before the first connection. */
  isConnected: boolean | null
  count: number
}

type Action =
  | { type: 'received'; message: InspectMessage }
  | { type: 'connected'; isConnected: boolean }
  | { type: 'paused' }
  | { type: 'cleared' }

const start: State = { rows: [], heldBack: [], isPaused: false, isConnected: null, count: 0 }

function reduce(state: State, action: Action): State {
  switch (action.type) {
    case 'received':
      return withRow(state, action.message)
    case 'connected':
      return { ...(action.isConnected ? state : withRow(state, null)), isConnected: action.isConnected }
    case 'paused': {
      const rows = [...state.heldBack, ...state.rows].slice(0, limit)
      return { ...state, rows, heldBack: [], isPaused: !state.isPaused }
    }
    case 'cleared':
      return { ...state, rows: [], heldBack: [] }
  }
}

function withRow(state: State, message: InspectMessage | null): State {
  const target = state.isPaused ? 'heldBack' : 'rows'
  const row = { number: state.count, message }
  return { ...state, count: state.count + 1, [target]: [row, ...state[target]].slice(0, limit) }
}

function Table({ rows }: { rows: Row[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached by the keyboard.
    <section className={styles.box} aria-label="Raw events, newest first" tabIndex={0}>
      <table className={styles.table}>
        <TableHead names={['Time', 'Kind', 'Event or effect', 'From → To']} />
        <tbody>
          {rows.map(({ number, message }) =>
            message ? (
              <MessageRow key={number} message={message} />
            ) : (
              <tr key={number}>
                <td colSpan={4} className="quiet">
                  Events missed while disconnected are not shown.
                </td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </section>
  )
}

function MessageRow({ message }: { message: InspectMessage }) {
  const { at, type, event, effect } = message
  return (
    <tr data-type={effect?.outcome === 'failed' ? 'rejected' : type}>
      <td>
        <time dateTime={at}>{exactTime(Date.parse(at))}</time>
      </td>
      <td>{type}</td>
      <td>
        <code>{event ?? effect?.name}</code>
        {effect && ` ${effect.outcome}${effect.code === null ? '' : `: ${effect.code}`}`}
      </td>
      <td>
        <Edges message={message} />
      </td>
    </tr>
  )
}

/** The edges that a transition took, or the state in which the event arrived. */
function Edges({ message: { from, to, microsteps } }: { message: InspectMessage }) {
  if (microsteps.length === 0) {
    return (
      <>
        {from !== null && to === null && 'in '}
        <code>{[from, to].filter(Boolean).join(' → ')}</code>
      </>
    )
  }
  return microsteps.map(({ from: source, to: target, guard }) => (
    <div key={`${source} ${target}`}>
      <code>{source === target ? target : `${source} → ${target}`}</code>
      {guard !== null && <span className="quiet"> if {guard}</span>}
    </div>
  ))
}
