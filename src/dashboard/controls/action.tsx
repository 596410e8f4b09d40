// A button that asks the server for something. Its effect is shown when the record has changed, not before.
import { type ReactNode, useId } from 'react'
import { ApiError } from '../api/client.ts'
import { toSentence } from '../shell/problem.tsx'
import styles from './action.module.css'
import { usePress } from './press.ts'

interface ActionProps<Result> {
  children: ReactNode
  /** `send('POST', path, body)`. The key is the same when the press is repeated. */
  run(key: string): Promise<Result>
  /** What the response says: "Queued as …7q3f". */
  accepted?(result: Result): ReactNode
  onAccepted?(result: Result): void
  /** Of a shortcut that presses it. */
  keys?: string
  kind?: 'main' | 'plain' | 'danger' | 'small'
  /** Why it cannot be pressed now. */
  unavailable?: string | null
}

export function Action<Result>(props: ActionProps<Result>) {
  const { children, run, accepted, onAccepted, keys, kind = 'plain', unavailable = null } = props
  const reasonId = useId()
  const { press, isPending, isUncertain, isSuccess, data, error } = usePress(run, onAccepted)
  const isOff = isPending || unavailable !== null
  return (
    <span className={styles.action}>
      <button
        type="button"
        data-kind={kind}
        data-keys={keys}
        aria-keyshortcuts={keys}
        aria-disabled={isOff}
        aria-busy={isPending}
        aria-describedby={unavailable === null ? undefined : reasonId}
        title={unavailable ?? undefined}
        onClick={isOff ? undefined : press}
      >
        {/* Both labels take their place, so that the size stays. */}
        <span className={styles.label} data-shown={!isPending}>
          {children}
        </span>
        <span className={styles.label} data-shown={isPending} aria-hidden={!isPending}>
          {kind === 'small' ? '…' : 'Requesting…'}
        </span>
      </button>
      {unavailable !== null && (
        <span id={reasonId} className="hidden">
          {unavailable}
        </span>
      )}
      {isUncertain && <span role="status">{uncertain}</span>}
      {isSuccess && accepted && (
        <span role="status" className="quiet">
          {accepted(data as Result)}
        </span>
      )}
      {error && <Refusal error={error} />}
    </span>
  )
}

export const uncertain = "We couldn't confirm that your request arrived. Retrying…"

/** Why the server refused it, next to what was pressed. */
export function Refusal({ error }: { error: Error }) {
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
