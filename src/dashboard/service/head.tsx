// The name of a service, its state and its address, and what can be done with it.
import { useState } from 'react'
import type { Deploy } from '../../api/deploy.ts'
import type { Service } from '../../api/service.ts'
import { send } from '../api/client.ts'
import { Action } from '../controls/action.tsx'
import { Menu } from '../controls/menu.tsx'
import { useFollow } from '../deploy/follow.ts'
import { Mark } from '../look/mark.tsx'
import { useShortcut } from '../shell/shortcuts.ts'
import { DeleteDialog } from './delete-dialog.tsx'
import styles from './overview.module.css'
import { canDeploy, stateWord, toneFor } from './state.ts'
import { SuspendDialog } from './suspend-dialog.tsx'

export function Head({ service }: { service: Service }) {
  const { name, state, url } = service
  return (
    <header className={styles.head}>
      <div>
        <h1>{name}</h1>
        <p className={styles.facts}>
          <span>
            <Mark tone={toneFor(service)} /> {stateWord(service)}
          </span>
          {url && (
            <a href={url} target="_blank" rel="noreferrer">
              {url.replace(/^https?:\/\//, '')} ↗
            </a>
          )}
        </p>
      </div>
      {state !== 'deleting' && <Actions service={service} />}
    </header>
  )
}

function Actions({ service }: { service: Service }) {
  const { id, name, suspended, live_deploy_id: liveId } = service
  const [dialog, setDialog] = useState<'suspend' | 'delete' | null>(null)
  const follow = useFollow(name)
  useShortcut('d', 'Deploy', () => document.querySelector<HTMLElement>('main [data-keys="d"]')?.click())
  return (
    <div className={styles.actions}>
      {suspended ? (
        <Action
          key="resume"
          kind="main"
          run={send<Service>('PATCH', `/services/${id}`, { suspended: false })}
          accepted={() => 'Requested'}
        >
          Resume
        </Action>
      ) : (
        <Action
          key="deploy"
          kind="main"
          keys="d"
          run={send<Deploy>('POST', `/services/${id}/deploys`, {})}
          onAccepted={follow}
          unavailable={canDeploy(service) ? null : 'Resume the service first'}
        >
          Deploy
        </Action>
      )}
      {liveId !== null && !suspended && (
        <Action run={send<Deploy>('POST', `/services/${id}/restart`)} onAccepted={follow}>
          Restart
        </Action>
      )}
      <Menu label="⋯" name={`More for ${name}`}>
        {!suspended && (
          <button type="button" data-closes onClick={() => setDialog('suspend')}>
            Suspend…
          </button>
        )}
        <button type="button" data-closes data-kind="danger" onClick={() => setDialog('delete')}>
          Delete…
        </button>
      </Menu>
      {dialog === 'suspend' && <SuspendDialog service={service} onClose={() => setDialog(null)} />}
      {dialog === 'delete' && <DeleteDialog service={service} onClose={() => setDialog(null)} />}
    </div>
  )
}
