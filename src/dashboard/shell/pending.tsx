// What a page shows before its record is there: that it is being read, or why it cannot be.
import { Loading } from '../controls/loading.tsx'
import { Page } from './page.tsx'
import { ProblemNote } from './problem.tsx'

interface PendingProps {
  title: string
  error: Error | null
  onRetry(): void
}

export function Pending({ title, error, onRetry }: PendingProps) {
  return (
    <Page title={title}>
      {error ? (
        <ProblemNote error={error} onRetry={onRetry} />
      ) : (
        <>
          <h1>{title}</h1>
          <Loading rows={6} />
        </>
      )}
    </Page>
  )
}
