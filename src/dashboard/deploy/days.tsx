// A list of deploys or job runs by day, newest first, that is continued on request.
import type { UseInfiniteQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { More } from '../controls/more.tsx'
import { byDay } from '../look/by-day.ts'
import { ProblemNote } from '../shell/problem.tsx'
import styles from './days.module.css'

interface Item {
  id: string
  created_at: string
}

interface DaysProps<Of extends Item> {
  pages: UseInfiniteQueryResult<{ pages: Of[][] }>
  /** What is said and offered without any. */
  empty: ReactNode
  row(item: Of): ReactNode
}

export function Days<Of extends Item>({ pages, empty, row }: DaysProps<Of>) {
  const { data, error, refetch } = pages
  if (error && !data) return <ProblemNote error={error} onRetry={() => void refetch()} />
  if (!data) return null
  const items = data.pages.flat()
  if (items.length === 0) return empty
  return (
    <>
      {byDay(items, ({ created_at: at }) => at).map(([day, ofDay]) => (
        <section key={day} className={styles.day}>
          <h2>{day}</h2>
          <ul className={styles.list}>
            {ofDay.map((item) => (
              <li key={item.id}>{row(item)}</li>
            ))}
          </ul>
        </section>
      ))}
      <More of={pages}>Show older</More>
    </>
  )
}
