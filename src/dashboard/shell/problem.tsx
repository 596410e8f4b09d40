// What went wrong while a page was loaded, with the next step.
import { useRouter } from '@tanstack/react-router'
import { ApiError } from '../api/client.ts'
import styles from './problem.module.css'

export function LoadProblem({ error }: { error: unknown }) {
  const router = useRouter()
  return <ProblemNote error={error} onRetry={() => void router.invalidate()} />
}

export function ProblemNote({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const problem = error instanceof ApiError ? error.problem : null
  return (
    <section className={styles.note} role="alert">
      <h2>{problem?.status === 404 ? 'Not found' : 'This could not be loaded'}</h2>
      <p>{toSentence(problem?.detail ?? String(error))}</p>
      {problem?.hint && <p>{toSentence(problem.hint)}</p>}
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
      {problem?.requestId && (
        <p className="quiet">
          {problem.status} · <code>{problem.requestId}</code>
        </p>
      )}
    </section>
  )
}

export function NotFound() {
  return (
    <section className={styles.note}>
      <h1>Not found</h1>
      <p>There is no page at {location.pathname}.</p>
    </section>
  )
}

/** Messages of the server begin in lower case, because they follow the name of a thing elsewhere. */
export function toSentence(text: string): string {
  const end = /[.!?…]$/.test(text) ? '' : '.'
  // A command stays as it is typed.
  const first = text.startsWith('berth ') ? 'b' : text.charAt(0).toUpperCase()
  return `${first}${text.slice(1)}${end}`
}
