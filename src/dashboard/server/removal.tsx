// The button that removes or replaces something for good, and the question before it.
import { type ReactNode, useState } from 'react'
import { type Method, send } from '../api/client.ts'
import { Action } from '../controls/action.tsx'
import { Command } from '../controls/command.tsx'
import { Dialog } from '../controls/dialog.tsx'

interface RemovalProps {
  /** Of the button. */
  label: string
  name: string
  path: string
  method?: Exclude<Method, 'GET'>
  body?: unknown
  berth: string
  /** What goes, and what stays. */
  children: ReactNode
}

export function Removal(props: RemovalProps) {
  const { label, name, path, method = 'DELETE', body, berth, children } = props
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
            <Action kind="danger" run={send<void>(method, path, body)} onAccepted={close}>
              {label}
            </Action>
          }
        >
          <p>{children}</p>
          <Command berth={berth} request={{ method, path, body }} />
        </Dialog>
      )}
    </>
  )
}
