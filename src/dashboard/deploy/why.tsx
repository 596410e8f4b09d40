// Why a deploy or a job run failed, and what to do about it, in the words of `berth why`.
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef } from 'react'
import type { Deploy } from '../../api/deploy.ts'
import type { JobRun } from '../../api/job.ts'
import { Code } from '../controls/command.tsx'
import { plainText } from '../log/ansi.ts'
import { toSentence } from '../shell/problem.tsx'
import { whyQuery } from './queries.ts'
import styles from './why.module.css'

interface WhyProps {
  /** "Failed while building" */
  title: string
  path: string
  record: Pick<Deploy | JobRun, 'id' | 'error' | 'hint'>
  /** It failed while this page was open. */
  isNews: boolean
  /** The buttons for the next step. */
  children: ReactNode
}

/** The record has the reason and the hint; the server's explanation adds the failed step and its output. */
export function WhyPanel({ title, path, record, isNews, children }: WhyProps) {
  const { data: why } = useQuery(whyQuery(path, record.id))
  const hint = why?.hint ?? record.hint
  const panel = useRef<HTMLElement>(null)
  useEffect(() => {
    if (isNews) panel.current?.focus()
  }, [isNews])
  return (
    <section ref={panel} className={styles.why} aria-labelledby="why" tabIndex={-1}>
      <h2 id="why">{title}</h2>
      <p className={styles.reason}>{toSentence(why?.reason ?? record.error ?? 'failed')}</p>
      {why?.failed_step && (
        <p>
          Failed step: <code>{why.failed_step}</code>
        </p>
      )}
      {why && <Lines first={why.error_line} last={why.lines} />}
      {hint && (
        <p>
          <b>Next step:</b> {toSentence(hint)}
        </p>
      )}
      {why?.commands.map((command) => (
        <Code key={command} text={command} />
      ))}
      <p className={styles.actions}>{children}</p>
    </section>
  )
}

/** `first` is a line further up that shows the error. */
function Lines({ first, last }: { first: string | null; last: string[] }) {
  if (first === null && last.length === 0) return null
  const lines = first === null ? last : [first, '…', ...last]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached by the keyboard.
    <pre className={styles.lines} tabIndex={0}>
      {lines.map(plainText).join('\n')}
    </pre>
  )
}
