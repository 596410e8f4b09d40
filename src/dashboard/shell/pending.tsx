// What a page shows before its record is there: that it is being read, or why it cannot be.
import type { UseQueryResult } from '@tanstack/react-query'
import { Loading } from '../controls/loading.tsx'
import { Page } from './page.tsx'
import { ProblemNote } from './problem.tsx'

interface PendingProps {
  title: string
  /** What is read. */
  of: Pick<UseQueryResult, 'error' | 'refetch'>[]
}

export function Pending({ title, of: queries }: PendingProps) {
  const failed = queries.filter(({ error }) => error !== null)
  const [first] = failed
  return (
    <Page title={title}>
      {first ? (
        <ProblemNote error={first.error} onRetry={() => failed.forEach(({ refetch }) => void refetch())} />
      ) : (
        <>
          <h1>{title}</h1>
          <Loading rows={6} />
        </>
      )}
    </Page>
  )
}
