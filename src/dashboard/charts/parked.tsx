// An actor that an error in the server has stopped: why, and the two ways on.
import { useState } from 'react'
import type { Actor, DiscardedActor, HistoryEntry } from '../../api/actor.ts'
import { send } from '../api/client.ts'
import { causeWords } from '../chart/causes.ts'
import { Action } from '../controls/action.tsx'
import { Copy } from '../controls/copy.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { Mark } from '../look/mark.tsx'
import { Age } from '../look/times.tsx'
import { toSentence } from '../shell/problem.tsx'
import styles from './parked.module.css'

interface ParkedProps {
  actor: Actor & { parked: NonNullable<Actor['parked']> }
  history: HistoryEntry[]
}

export function Parked({ actor, history }: ParkedProps) {
  const [isAsking, setAsking] = useState(false)
  const { id, parked, restarts, version, current_version: current } = actor
  const discard = (
    <Action run={send<DiscardedActor>('POST', `/actors/${id}/discard`)} kind="danger" accepted={leftBehind}>
      Discard
    </Action>
  )
  return (
    <section className={styles.parked} aria-label="Parked">
      <h2>
        <Mark tone="parked" /> Parked {parked.since && <Age at={parked.since} />}
      </h2>
      <p>{toSentence(parked.reason)}</p>
      <p className="quiet">
        Restarted {restarts} {restarts === 1 ? 'time' : 'times'} · stored by version {version} of its chart
        {version !== current && `, this server has version ${current}`}
      </p>
      <p className={styles.actions}>
        <Action run={send('POST', `/actors/${id}/retry`)} kind="main" accepted={() => 'Accepted'}>
          Try again
        </Action>
        <button type="button" onClick={() => setAsking(true)}>
          Discard…
        </button>
        <Copy text={reportOf(actor, history)} label="Copy report" />
      </p>
      <p className="quiet">{toSentence(parked.on_retry)} What it has created stays as it is until then.</p>
      {isAsking && (
        <Dialog title={`Discard ${id}?`} actions={discard} onClose={() => setAsking(false)}>
          <p>{toSentence(parked.on_discard)}</p>
          <p>Its containers, volumes, images and files are left as they are.</p>
          <p className="quiet">
            CLI command: <code>berth discard {id}</code>
          </p>
        </Dialog>
      )}
    </section>
  )
}

function leftBehind({ left_behind: left }: DiscardedActor): string {
  if (left.length === 0) return 'Discarded. It left nothing behind.'
  return `Discarded. It left: ${left.map(({ type, name }) => `${type} ${name}`).join(', ')}.`
}

/** For a bug report: nothing that the actor works on. */
function reportOf(actor: ParkedProps['actor'], history: HistoryEntry[]): string {
  const { id, kind, parked, restarts, version, current_version } = actor
  const lines = history.slice(-20).map(({ at, event, state }) => `${at}  ${state}  ${causeWords(event)}`)
  return [
    `${kind} ${id} is parked since ${parked.since ?? 'an unknown time'}`,
    `${parked.code}: ${parked.reason}`,
    `restarts ${restarts}, chart ${version}, server's chart ${current_version}`,
    ...lines,
  ].join('\n')
}
