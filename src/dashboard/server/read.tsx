// What a query has read, or what is shown in its place.
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Loading } from '../controls/loading.tsx'
import { ProblemNote } from '../shell/problem.tsx'

interface ReadProps<Data> {
  of: { data: Data | undefined } & Pick<UseQueryResult, 'error'> & { refetch(): unknown }
  children(data: Data): ReactNode
}

export function Read<Data>({ of: { data, error, refetch }, children }: ReadProps<Data>) {
  if (data !== undefined) return children(data)
  return error ? <ProblemNote error={error} onRetry={() => void refetch()} /> : <Loading rows={5} />
}
