// The change feed keeps the cached records true. An idle page sends no requests.
import type { QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import type { FeedChange, FeedReady } from '../../api/feed.ts'
import { onSignedOut } from '../api/client.ts'
import { setServerTime } from './clock.ts'
import { applyChange } from './patch.ts'
import type { StreamEvent } from './stream.ts'
import { type Connection, joinFeed } from './tabs.ts'

export type { Connection } from './tabs.ts'

interface Live {
  connection: Connection
  /** When the last event arrived, or when the connection was last known to work. */
  asOfMs: number
  /** The version of a server whose pages are not these. */
  newVersion: string | null
}

let live: Live = { connection: { kind: 'connecting' }, asOfMs: Date.now(), newVersion: null }
const listeners = new Set<() => void>()
const changeListeners = new Set<(change: FeedChange) => void>()
let reopen = () => {}

export function useLive(): Live {
  return useSyncExternalStore(subscribe, () => live)
}

export function currentLive(): Live {
  return live
}

/** "Try now". */
export function reconnect(): void {
  reopen()
}

/** For pages that show more than records, such as what happened. Returns a function that ends it. */
export function onChange(listener: (change: FeedChange) => void): () => void {
  changeListeners.add(listener)
  return () => changeListeners.delete(listener)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function set(next: Partial<Live>): void {
  live = { ...live, ...next }
  for (const listener of listeners) listener()
}

/** For as long as the page is open. */
export function openFeed(client: QueryClient): void {
  const { build, change } = document.documentElement.dataset

  function take({ name, data }: StreamEvent): void {
    if (name === 'ready') begin(JSON.parse(data) as FeedReady)
    if (name !== 'change') return
    const change = JSON.parse(data) as FeedChange
    applyChange(client, change)
    for (const listener of changeListeners) listener(change)
  }

  function begin({ version, build: served, now }: FeedReady): void {
    setServerTime(Date.parse(now))
    if (build && served && served !== build) set({ newVersion: version })
  }

  reopen = joinFeed({
    cursor: change ?? '',
    onEvent: take,
    onGap: () => void client.invalidateQueries(),
    onConnection(connection) {
      const isLost = connection.kind === 'broken' && live.connection.kind !== 'broken'
      // For styles: the frame need not be drawn again.
      document.documentElement.dataset.connection = connection.kind
      set({ connection, ...(isLost && { asOfMs: Date.now() }) })
    },
  })
  onSignedOut(() => reopen())
}
