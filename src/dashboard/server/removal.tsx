// The button that removes something for good, and the question before it.
import { type ReactNode, useState } from 'react'
import { send } from '../api/client.ts'
import { Action } from '../controls/action.tsx'
import { Command } from '../controls/command.tsx'
import { Dialog } from '../controls/dialog.tsx'

interface RemovalProps {
  /** Of the button. */
  label: string
  name: string
  /** Of the DELETE request. */
  path: string
  berth: string
  /** What goes, and what stays. */
  children: ReactNode
}

export function Removal({ label, name, path, berth, children }: RemovalProps) {
  const [isAsking, setAsking] = useState(false)
  const close = () => setAsking(false)
  return (
    <>
      <button type="button" data-kind="small" onClick={() => setAsking(true)}>
        {label}…
      </button>
      {isAsking && (
        <Dialog
          title={`${label} ${name}?`}
          onClose={close}
          actions={
            <Action kind="danger" run={send<void>('DELETE', path)} onAccepted={close}>
              {label}
            </Action>
          }
        >
          <p>{children}</p>
          <Command berth={berth} request={{ method: 'DELETE', path }} />
        </Dialog>
      )}
    </>
  )
}
