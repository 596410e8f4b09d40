// What went wrong while a page was loaded, with the next step.
import { Link, useRouter } from '@tanstack/react-router'
import { ApiError } from '../api/client.ts'
import { Page } from './page.tsx'
import styles from './problem.module.css'
import { signInPath } from './sign-in.ts'

/** Of a route whose page cannot be shown at all. */
export function LoadProblem({ error }: { error: unknown }) {
  const router = useRouter()
  return (
    <Page title="Problem">
      <ProblemNote error={error} onRetry={() => void router.invalidate()} />
    </Page>
  )
}

const titles: Record<string, string> = {
  not_found: 'Not found',
  unreachable: 'The server cannot be reached',
  docker_unavailable: 'Docker does not respond',
  insufficient_storage: 'The disk of the server is full',
}

export function ProblemNote({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const problem = error instanceof ApiError ? error.problem : null
  if (problem?.status === 401) return <SignedOut />
  return (
    <section className={styles.note} role="alert">
      <h1>{titles[problem?.code ?? ''] ?? 'This could not be loaded'}</h1>
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

function SignedOut() {
  return (
    <section className={styles.note} role="alert">
      <h1>Signed out</h1>
      <p>
        <a href={signInPath()}>Sign in</a> to see this page.
      </p>
    </section>
  )
}

export function NotFound() {
  return (
    <Page title="Not found">
      <section className={styles.note}>
        <h1>Not found</h1>
        <p>There is no page at {location.pathname}.</p>
        <Link to="/services">All services</Link>
      </section>
    </Page>
  )
}

/** Messages of the server begin in lower case, because they follow the name of a thing elsewhere. */
export function toSentence(text: string): string {
  const end = /[.!?…]$/.test(text) ? '' : '.'
  // A command stays as it is typed.
  const first = text.startsWith('berth ') ? 'b' : text.charAt(0).toUpperCase()
  return `${first}${text.slice(1)}${end}`
}
