// Suspending stops what serves, so it says so first.
import type { Service } from '../../api/service.ts'
import { send } from '../api/client.ts'
import { Action } from '../controls/action.tsx'
import { Command } from '../controls/command.tsx'
import { Dialog } from '../controls/dialog.tsx'

export function SuspendDialog({ service, onClose }: { service: Service; onClose(): void }) {
  const { id, name, hosts } = service
  const body = { suspended: true }
  return (
    <Dialog
      title={`Suspend ${name}?`}
      onClose={onClose}
      actions={
        <Action run={send<Service>('PATCH', `/services/${id}`, body)} onAccepted={onClose}>
          Suspend
        </Action>
      }
    >
      <p>Its instances stop. Its settings, variables, deploys and disk are kept.</p>
      {hosts.length > 0 && <p>Nothing answers at {hosts.join(', ')} until it is resumed.</p>}
      <Command
        berth={`berth suspend ${name}`}
        request={{ method: 'PATCH', path: `/services/${name}`, body }}
      />
    </Dialog>
  )
}
