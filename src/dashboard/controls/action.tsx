// A button that asks the server for something. Its effect is shown when the record has changed, not before.
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useId } from 'react'
import { ApiError, newKey } from '../api/client.ts'
import { toSentence } from '../shell/problem.tsx'
import styles from './action.module.css'

interface ActionProps<Result> {
  children: ReactNode
  /** `send('POST', path, body)`. The key is the same when the press is repeated. */
  run(key: string): Promise<Result>
  /** What the response says: "Queued as …7q3f". */
  accepted?(result: Result): ReactNode
  onAccepted?(result: Result): void
  kind?: 'main' | 'plain' | 'danger'
  /** Why it cannot be pressed now. */
  unavailable?: string | null
}

/** After a network failure the request may have arrived; the key makes repeating it safe. */
const retries = { retry: isUnanswered, retryDelay: 2_000 }

export function Action<Result>(props: ActionProps<Result>) {
  const { children, run, accepted, onAccepted, kind = 'plain', unavailable = null } = props
  const reasonId = useId()
  const { mutate, isPending, error, data, isSuccess, failureCount } = useMutation({
    mutationFn: run,
    ...retries,
  })
  // Not after this button has left the page: a late answer must not lead elsewhere.
  const press = () => mutate(newKey(), onAccepted && { onSuccess: onAccepted })
  return (
    <span className={styles.action}>
      <button
        type="button"
        data-kind={kind}
        aria-disabled={isPending || unavailable !== null}
        aria-busy={isPending}
        aria-describedby={unavailable === null ? undefined : reasonId}
        title={unavailable ?? undefined}
        onClick={isPending || unavailable !== null ? undefined : press}
      >
        {/* Both labels take their place, so that the size stays. */}
        <span className={styles.label} data-shown={!isPending}>
          {children}
        </span>
        <span className={styles.label} data-shown={isPending} aria-hidden={!isPending}>
          Requesting…
        </span>
      </button>
      {unavailable !== null && (
        <span id={reasonId} className="hidden">
          {unavailable}
        </span>
      )}
      {isPending && failureCount > 0 && (
        <span role="status">We couldn't confirm that your request arrived. Retrying…</span>
      )}
      {isSuccess && accepted && (
        <span role="status" className="quiet">
          {accepted(data)}
        </span>
      )}
      {error && <Refusal error={error} />}
    </span>
  )
}

function isUnanswered(failures: number, error: Error): boolean {
  return error instanceof ApiError && error.problem.status === 0 && failures < 15
}

function Refusal({ error }: { error: Error }) {
  const problem = error instanceof ApiError ? error.problem : null
  return (
    <span className={styles.refusal} role="alert">
      {toSentence(problem?.detail ?? String(error))}
      {problem?.hint && ` ${toSentence(problem.hint)}`}
      {problem?.requestId && (
        <small>
          {' '}
          {problem.status} · <code>{problem.requestId}</code>
        </small>
      )}
    </span>
  )
}
