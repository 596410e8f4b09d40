// A button that asks the server for something. Its effect is shown when the record has changed, not before.
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import { toSentence } from '../shell/problem.tsx'
import styles from './action.module.css'

interface ActionProps<Result> {
  children: ReactNode
  run(): Promise<Result>
  onAccepted?(result: Result): void
  kind?: 'main' | 'plain'
}

export function Action<Result>({ children, run, onAccepted, kind = 'plain' }: ActionProps<Result>) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: run,
  })
  // Not after this button has left the page: a late answer must not lead elsewhere.
  const press = () => mutate(undefined, onAccepted && { onSuccess: onAccepted })
  return (
    <span className={styles.action}>
      <button type="button" data-kind={kind} disabled={isPending} onClick={press}>
        {isPending ? 'Requesting…' : children}
      </button>
      {error && (
        <span className={styles.refusal} role="alert">
          {toSentence(error instanceof ApiError ? error.problem.detail : String(error))}
        </span>
      )}
    </span>
  )
}
