// The button under a list that is read page by page.
import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ProblemNote } from '../shell/problem.tsx'

interface MoreProps {
  of: Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage' | 'error'>
  children: ReactNode
}

export function More({ of: { hasNextPage, isFetchingNextPage, fetchNextPage, error }, children }: MoreProps) {
  if (!hasNextPage) return null
  const press = isFetchingNextPage ? undefined : () => void fetchNextPage()
  return (
    <>
      {error && <ProblemNote error={error} />}
      <p data-more>
        <button type="button" aria-disabled={isFetchingNextPage} onClick={press}>
          {isFetchingNextPage ? 'Loading…' : children}
        </button>
      </p>
    </>
  )
}
