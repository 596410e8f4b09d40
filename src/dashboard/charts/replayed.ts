// A history up to the moment that the address names with `?at=`, or up to now.
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { HistoryEntry } from '../../api/actor.ts'
import { type Moment, momentIndex, toMoments } from '../chart/moments.ts'

export interface Replayed {
  moments: Moment[]
  /** Of the moment that is shown. */
  index: number
  isLive: boolean
  /** Null if it is live, or not there yet. */
  past: Moment | null
  /** The history up to it. */
  until: HistoryEntry[]
  /** Null: to now. */
  go(index: number | null): void
}

const nothing: HistoryEntry[] = []

/** Without its history, a page whose address names a moment is not live either. */
export function useReplayed(history = nothing): Replayed {
  const { at: named } = useSearch({ strict: false })
  const navigate = useNavigate()
  const moments = useMemo(() => toMoments(history), [history])
  const index = momentIndex(moments, named)
  const until = useMemo(() => history.slice(0, index + 1), [history, index])
  const isLive = index === moments.length - 1
  return {
    moments,
    index,
    isLive,
    past: isLive ? null : (moments[index] ?? null),
    until,
    go(to) {
      const at = to === null ? undefined : moments[to]!.entry.revision
      const search = ({ at: _, ...rest }: { at?: number }) => (at === undefined ? rest : { ...rest, at })
      void navigate({ to: '.', search, hash: true, replace: true, resetScroll: false })
    },
  }
}
