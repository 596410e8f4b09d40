// Why a deploy failed, and what to do about it, in the words of `berth why`.
import { useQuery } from '@tanstack/react-query'
import type { Deploy } from '../../api/deploy.ts'
import { toSentence } from '../shell/problem.tsx'
import { whyQuery } from './queries.ts'
import styles from './why.module.css'

/** The record has the reason and the hint; the server's explanation adds the failed step and its output. */
export function WhyPanel({ deploy }: { deploy: Deploy }) {
  const { data: why } = useQuery(whyQuery(deploy.id))
  const hint = why?.hint ?? deploy.hint
  const lines = [why?.error_line, ...(why?.lines ?? [])].filter((line) => line != null)
  return (
    <section className={styles.why} aria-label="Why it failed">
      <h2>{toSentence(why?.reason ?? deploy.error ?? 'failed')}</h2>
      {why?.failed_step && (
        <p>
          Failed step: <code>{why.failed_step}</code>
        </p>
      )}
      {lines.length > 0 && <pre className={styles.lines}>{lines.join('\n')}</pre>}
      {hint && <p>{toSentence(hint)}</p>}
      {why?.commands.map((command) => (
        <pre key={command} className={styles.command}>
          {command}
        </pre>
      ))}
    </section>
  )
}
