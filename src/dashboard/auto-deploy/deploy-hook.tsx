// The deploy hook of a service. Its address has a key, so it is read and shown only on request.
import { useState } from 'react'
import type { DeployHook } from '../../api/hook.ts'
import type { Service } from '../../api/service.ts'
import { get, send } from '../api/client.ts'
import { Action } from '../controls/action.tsx'
import { Code, Command } from '../controls/command.tsx'
import { Dialog } from '../controls/dialog.tsx'
import panel from '../service/overview.module.css'
import styles from './auto-deploys.module.css'

export function DeployHookSection({ service: { id, name } }: { service: Service }) {
  const [shown, setShown] = useState<DeployHook | null>(null)
  const [isAsking, setAsking] = useState(false)
  const path = `/services/${id}/deploy-hook`
  const replaced = (hook: DeployHook) => {
    setShown(hook)
    setAsking(false)
  }
  return (
    <section className={panel.panel}>
      <h2>Deploy hook</h2>
      <p>
        A POST to its address deploys this service, for example at the end of a build elsewhere.{' '}
        <span className="quiet">The address contains a key that deploys: keep it secret.</span>
      </p>
      {shown && <Code text={`curl --fail -X POST '${shown.url}'`} />}
      <div className={styles.actions}>
        {shown ? (
          <button type="button" onClick={() => setShown(null)}>
            Hide address
          </button>
        ) : (
          <Action run={() => get<DeployHook>(path)()} onAccepted={setShown}>
            Show address
          </Action>
        )}
        <button type="button" onClick={() => setAsking(true)}>
          Replace key…
        </button>
      </div>
      <Command berth={`berth deploy-hook ${name}`} request={{ method: 'GET', path }} />
      {isAsking && (
        <Dialog
          title={`Replace the key of ${name}'s deploy hook?`}
          onClose={() => setAsking(false)}
          actions={
            <Action kind="danger" run={send<DeployHook>('POST', `${path}/rotate`)} onAccepted={replaced}>
              Replace key
            </Action>
          }
        >
          <p>The present address stops working at once. Everything that uses it needs the new one.</p>
          <Command
            berth={`berth deploy-hook ${name} --rotate`}
            request={{ method: 'POST', path: `${path}/rotate` }}
          />
        </Dialog>
      )}
    </section>
  )
}
