// Rolling back: what changes, or why it is not possible, before the click.
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Deploy } from '../../api/deploy.ts'
import { send } from '../api/client.ts'
import { Action } from '../controls/action.tsx'
import { Command } from '../controls/command.tsx'
import { Dialog } from '../controls/dialog.tsx'
import { shortId } from '../look/short-id.ts'
import { Age } from '../look/times.tsx'
import { Version } from '../service/version.tsx'
import { ProblemNote } from '../shell/problem.tsx'
import { Changes, ObstacleNote } from './changes.tsx'
import { useFollow } from './follow.ts'
import { diffQuery } from './queries.ts'

interface RollbackProps {
  /** Of the service. */
  name: string
  target: Deploy
  liveId: string | null
  children: ReactNode
}

export function RollbackButton({ children, ...props }: RollbackProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {children}
      </button>
      {isOpen && <RollbackDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

interface DialogProps extends Omit<RollbackProps, 'children'> {
  onClose(): void
}

function RollbackDialog({ name, target, liveId, onClose }: DialogProps) {
  const { data: diff, error } = useQuery(diffQuery(target.id, liveId ?? 'live'))
  const follow = useFollow(name)
  const path = `/services/${target.service_id}/rollback`
  const body = { deploy_id: target.id }
  const run = send<Deploy>('POST', path, body)
  return (
    <Dialog
      title={`Roll ${name} back to ${shortId(target.id)}?`}
      onClose={onClose}
      actions={
        diff?.obstacle === null && (
          <Action kind="main" run={run} onAccepted={follow}>
            Roll back
          </Action>
        )
      }
    >
      <p>
        <Version deploy={target} />, requested <Age at={target.created_at} />
      </p>
      {error && <ProblemNote error={error} />}
      {diff?.obstacle && <ObstacleNote obstacle={diff.obstacle} />}
      {diff && !diff.obstacle && (
        <>
          <p>A new deploy starts from its image, settings and variables. What changes:</p>
          <Changes diff={diff} />
        </>
      )}
      <Command berth={`berth rollback ${name} ${target.id}`} request={{ method: 'POST', path, body }} />
    </Dialog>
  )
}
