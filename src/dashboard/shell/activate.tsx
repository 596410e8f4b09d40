// What an activation does, and what a restored server does not have.
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Info } from '../../api/info.ts'
import { get, send } from '../api/client.ts'
import { Action } from '../controls/action.tsx'
import { Code } from '../controls/command.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { dateTime } from '../look/clock-time.ts'
import { toSentence } from './problem.tsx'

const infoQuery = queryOptions({ queryKey: ['server', 'info', 'held'], queryFn: get<Info>('/info') })

export function ActivateDialog({ onClose }: { onClose(): void }) {
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
      <p>Not here yet. berth restore-missing restores data from its backups:</p>
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
