// A dialog with fields. Enter sends it, and what the server refuses is said next to the buttons.
import { type ReactNode, useRef } from 'react'
import { Refusal, uncertain } from '../controls/action.tsx'
import dialog from '../controls/dialog.module.css'
import { Modal } from '../controls/dialog.tsx'
import { usePress } from '../controls/press.ts'

export type Fields = Record<string, string>

interface FormProps<Result> {
  title: string
  submit: string
  /** `({ name, ...body }) => send('PUT', …)` */
  request(fields: Fields): (key: string) => Promise<Result>
  onAccepted(result: Result): void
  onClose(): void
  children: ReactNode
}

export function Form<Result>({ title, submit, request, onAccepted, onClose, children }: FormProps<Result>) {
  const form = useRef<HTMLFormElement>(null)
  const run = (key: string) => request(filled(new FormData(form.current!)))(key)
  const { press, isPending, isUncertain, error } = usePress(run, onAccepted)
  return (
    <Modal label={title} onClose={onClose}>
      <form
        ref={form}
        className={dialog.form}
        onSubmit={(event) => {
          event.preventDefault()
          if (!isPending) press()
        }}
      >
        <h2>{title}</h2>
        {children}
        {isUncertain && <span role="status">{uncertain}</span>}
        {error && <Refusal error={error} />}
        <p className={dialog.actions}>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" data-kind="main" aria-disabled={isPending} aria-busy={isPending}>
            {isPending ? 'Requesting…' : submit}
          </button>
        </p>
      </form>
    </Modal>
  )
}

/** Without what was left empty. */
export function filled(data: FormData): Fields {
  const entries = [...data].map(([name, value]) => [name, String(value).trim()] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== ''))
}
