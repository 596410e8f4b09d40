// A server that was restored from a backup does nothing by itself until someone activates it.
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Info } from '../../api/info.ts'
import { get, send } from '../api/client.ts'
import { Action } from '../controls/action.tsx'
import { Code } from '../controls/command.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { dateTime } from '../look/clock-time.ts'
import styles from './connection.module.css'
import { toSentence } from './problem.tsx'

/** The host may activate it too, of which the feed says nothing: it is asked again when the window is used. */
export const heldQuery = queryOptions({
  queryKey: ['server', 'health', 'held'],
  queryFn: async () => (await (await fetch('/healthz?verbose=true')).text()).split('\n').includes('held'),
  refetchOnWindowFocus: ({ state }) => state.data === true && 'always',
})

const infoQuery = queryOptions({ queryKey: ['server', 'info', 'held'], queryFn: get<Info>('/info') })

export function HeldBar() {
  const { data: isHeld } = useQuery(heldQuery)
  const [isOpen, setOpen] = useState(false)
  if (!isHeld) return null
  return (
    <div className={styles.held} role="status">
      <p>
        <strong>This restored server is held.</strong> It serves, but runs no schedule, and renews and backs
        up nothing.
      </p>
      <button type="button" data-kind="small" onClick={() => setOpen(true)}>
        Activate…
      </button>
      {isOpen && <ActivateDialog onClose={() => setOpen(false)} />}
    </div>
  )
}

function ActivateDialog({ onClose }: { onClose(): void }) {
  const client = useQueryClient()
  const { data: info } = useQuery(infoQuery)
  const activated = () => void client.invalidateQueries({ queryKey: ['server'] }).then(onClose)
  const held = info?.held
  return (
    <Dialog
      title="Activate this server?"
      onClose={onClose}
      actions={
        <Action kind="main" run={send<void>('POST', '/server/activate')} onAccepted={activated}>
          Activate
        </Action>
      }
    >
      <p>
        Its schedules run, and it renews certificates and tokens. Stop the original first: two servers must
        not do that for the same services.
      </p>
      {held && <p className="quiet">It is as it was at {dateTime(Date.parse(held.backup_at))}.</p>}
      <Missing missing={held?.missing ?? null} />
      <Code text="berthd activate" />
    </Dialog>
  )
}

function Missing({ missing }: { missing: NonNullable<Info['held']>['missing'] }) {
  if (missing === null || missing.length === 0) return null
  return (
    <>
      <p>Not here, because no backup contains it:</p>
      <ul>
        {missing.map(({ name, what, hint }) => (
          <li key={`${name} ${what}`}>
            {name}: {what}. {toSentence(hint)}
          </li>
        ))}
      </ul>
    </>
  )
}
