// The state of the find field: what is found so far, and where the reader is in it.
import { useEffect, useMemo, useReducer, useState } from 'react'
import { createMatcher, type Matcher, Search } from './find.ts'
import type { Line } from './lines.ts'
import type { Log } from './log.ts'

export interface FindState {
  query: string
  setQuery(query: string): void
  matcher: Matcher | null
  search: Search | null
  isSearching: boolean
  /** Counts from 0; -1 before the reader went to a match. */
  current: number
  /** To the next match, or with -1 to the previous one. Returns the number of its line; null without one. */
  go(step: 1 | -1, topNumber: number): number | null
}

/** Searching takes so much of a frame. */
const sliceMs = 12

export function useFind(
  log: Log,
  isShown: (line: Line) => boolean,
  query: string,
  onQuery: (query: string) => void,
): FindState {
  const [current, setCurrent] = useState(-1)
  const [, rerender] = useReducer((count: number) => count + 1, 0)
  const matcher = useMemo(() => createMatcher(query), [query])
  // Older lines that came, and oldest ones that left, change what the first match is.
  const { first } = log.lines
  const search = useMemo(() => matcher && new Search(matcher, isShown), [matcher, isShown, first])
  const isSearching = search?.hasNext(log.lines.all()) ?? false

  useEffect(() => {
    if (!search || !isSearching) return
    const frame = requestAnimationFrame(() => {
      const until = performance.now() + sliceMs
      while (search.advance(log.lines.all()) && performance.now() < until) {}
      rerender()
    })
    return () => cancelAnimationFrame(frame)
  })

  function go(step: 1 | -1, topNumber: number): number | null {
    if (!search || search.count === 0) return null
    const { count } = search
    const isOutside = current < 0 || current >= count
    const next = isOutside ? search.firstFrom(topNumber) : (current + step + count) % count
    setCurrent(next)
    return search.hitOf(next)!.number
  }

  return {
    query,
    setQuery(next) {
      onQuery(next)
      setCurrent(-1)
    },
    matcher,
    search,
    isSearching,
    current,
    go,
  }
}
