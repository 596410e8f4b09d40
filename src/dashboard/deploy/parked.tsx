// An actor that an internal error stopped: why, and the two ways on.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Actor, DiscardedActor, HistoryEntry } from '../../api/actor.ts'
import { get, send } from '../api/client.ts'
import { Action } from '../controls/action.tsx'
import { Command } from '../controls/command.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { toSentence } from '../shell/problem.tsx'
import styles from './why.module.css'

export function parkedIn(history: Pick<HistoryEntry, 'state'>[]): boolean {
  return history.at(-1)?.state === 'parked'
}

export function ParkedPanel({ id }: { id: string }) {
  const { data: actor } = useQuery({ queryKey: ['actor', id], queryFn: get<Actor>(`/actors/${id}`) })
  const [isAsking, setAsking] = useState(false)
  const parked = actor?.parked
  return (
    <section className={styles.why} aria-labelledby="parked">
      <h2 id="parked">Parked: an internal error stopped it</h2>
      {parked && (
        <>
          <p className={styles.reason}>{toSentence(parked.reason)}</p>
          <p>
            <b>Try again:</b> {toSentence(parked.on_retry)} <b>Discard:</b> {toSentence(parked.on_discard)}
          </p>
        </>
      )}
      <p className={styles.actions}>
        <Action kind="main" run={send<Actor>('POST', `/actors/${id}/retry`)}>
          Try again
        </Action>
        <button type="button" onClick={() => setAsking(true)}>
          Discard
        </button>
      </p>
      <Command berth={`berth retry ${id}`} request={{ method: 'POST', path: `/actors/${id}/retry` }} />
      {isAsking && <DiscardDialog id={id} effect={parked?.on_discard} onClose={() => setAsking(false)} />}
    </section>
  )
}

interface DiscardProps {
  id: string
  effect: string | undefined
  onClose(): void
}

function DiscardDialog({ id, effect, onClose }: DiscardProps) {
  const path = `/actors/${id}/discard`
  return (
    <Dialog
      title="Discard it?"
      onClose={onClose}
      actions={
        <Action kind="danger" run={send<DiscardedActor>('POST', path)} accepted={leftBehind}>
          Discard
        </Action>
      }
    >
      {effect && <p>{toSentence(effect)}</p>}
      <p>What it created stays as it is: nothing is removed.</p>
      <Command berth={`berth discard ${id}`} request={{ method: 'POST', path }} />
    </Dialog>
  )
}

function leftBehind({ left_behind: left }: DiscardedActor): string {
  if (left.length === 0) return 'Discarded. It left nothing behind.'
  return `Discarded. It left: ${left.map(({ type, name }) => `${type} ${name}`).join(', ')}.`
}
