// Deleting a service: what is lost and what is kept. The name is typed, so that it is this one.
import { useState } from 'react'
import type { Service } from '../../api/service.ts'
import { send } from '../api/client.ts'
import { Action } from '../controls/action.tsx'
import { Command } from '../controls/command.tsx'
import { Dialog } from '../controls/dialog.tsx'
import styles from './overview.module.css'

export function DeleteDialog({ service, onClose }: { service: Service; onClose(): void }) {
  const { id, name, disk_mount_path: disk } = service
  const [typed, setTyped] = useState('')
  const [withDisk, setWithDisk] = useState(false)
  const query = withDisk ? '?delete_disk=true' : ''
  return (
    <Dialog
      title={`Delete ${name}?`}
      onClose={onClose}
      closeLabel="Keep it"
      actions={
        <Action
          kind="danger"
          run={send('DELETE', `/services/${id}${query}`)}
          onAccepted={onClose}
          unavailable={typed === name ? null : 'Type the name first'}
        >
          Delete {name}
        </Action>
      }
    >
      <p>This deletes its instances, settings, variables, deploys and logs for good.</p>
      {disk && (
        <label className={styles.choice}>
          <input type="checkbox" checked={withDisk} onChange={({ target }) => setWithDisk(target.checked)} />
          Delete its disk too. It goes to the trash; otherwise it is kept.
        </label>
      )}
      <label className={styles.field}>
        Type {name} to confirm
        <input
          data-first
          value={typed}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => setTyped(target.value)}
        />
      </label>
      <Command
        berth={`berth delete ${name}${withDisk ? ' --delete-disk' : ''}`}
        request={{ method: 'DELETE', path: `/services/${name}${query}` }}
      />
    </Dialog>
  )
}
