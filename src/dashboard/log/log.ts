// One log that is being read: new lines as they come, and older ones when they are wanted.
import { type Line, Lines, toLine } from './lines.ts'

export interface LogSource {
  /** Of the events, with its query. */
  path: string
  /** The first line to read; null for where the server begins. */
  from: number | null
  /** Whether all lines are read, not only those that the reader comes to. */
  isWhole: boolean
}

interface StreamEvent {
  name: string
  id: string
  data: string
}

/** `openStream`, which needs a browser. */
export type Open = (options: {
  path: string
  after?: string
  lastEvent?: string
  onEvent: (event: StreamEvent) => void
  onState?: (state: { kind: string }) => void
}) => () => void

export interface Log {
  source: LogSource
  lines: Lines
  /** Changes with each change, at most once a frame. */
  version(): number
  isEnded(): boolean
  isBroken(): boolean
  /** Whether lines after the last one in memory are not read, because the reader is at older ones. */
  isPaused(): boolean
  /** Whether this line is in memory, or comes by itself. */
  willHave(number: number): boolean
  /** Whether the newest lines matter more than the oldest. */
  follow(isFollowing: boolean): void
  loadOlder(): void
  /** Returns a function that ends it. */
  subscribe(listener: () => void): () => void
  close(): void
}

const blockLines = 5_000
/** Where lines are missing, older ones are looked for in larger steps. */
const stepGrowth = 4

export function openLog(source: LogSource, open: Open, schedule: (paint: () => void) => void): Log {
  const { path, from, isWhole } = source
  const lines = new Lines()
  const listeners = new Set<() => void>()
  const state = { version: 0, isEnded: false, isBroken: false, isPaused: false, isFollowing: true }
  let isScheduled = false
  let closeNewer = () => {}
  let closeOlder: (() => void) | null = null
  /** Null if there are no older lines. */
  let olderStep: number | null = blockLines

  function announce(): void {
    if (isScheduled) return
    isScheduled = true
    schedule(() => {
      isScheduled = false
      state.version += 1
      for (const listener of listeners) listener()
    })
  }

  function takeNewer({ name, id, data }: StreamEvent): void {
    announce()
    if (name === 'end') state.isEnded = true
    if (name !== 'log') return
    lines.add(toLine(Number(id), JSON.parse(data)))
    if (lines.count === 1 && isWhole && from !== null) loadOlder()
    if (!lines.isTooMuch()) return
    if (state.isFollowing) lines.dropOldest()
    else pause()
  }

  function readNewer(): void {
    closeNewer = open({
      path: `${path}${path.includes('?') ? '&' : '?'}follow=true`,
      ...(lines.last > 0 ? { after: `${lines.last}` } : from !== null && { after: `${from - 1}` }),
      lastEvent: 'end',
      onEvent: takeNewer,
      onState({ kind }) {
        state.isBroken = kind === 'broken'
        announce()
      },
    })
  }

  function pause(): void {
    closeNewer()
    state.isPaused = true
  }

  function loadOlder(): void {
    const target = lines.first - 1
    if (closeOlder || target < 1 || olderStep === null) return
    const after = Math.max(0, target - olderStep)
    const block: Line[] = []
    closeOlder = open({
      path,
      after: `${after}`,
      onEvent({ name, id, data }) {
        const number = Number(id)
        if (name === 'log' && number <= target) block.push(toLine(number, JSON.parse(data)))
        if (number >= target) takeOlder(block, after)
      },
    })
  }

  function takeOlder(block: Line[], after: number): void {
    closeOlder?.()
    closeOlder = null
    lines.prepend(block)
    announce()
    const isGap = block.length === 0
    olderStep = isGap && after === 0 ? null : isGap ? olderStep! * stepGrowth : blockLines
    if (lines.dropNewest()) pause()
    else if (isGap || (isWhole && !lines.isFull)) loadOlder()
  }

  readNewer()
  return {
    source,
    lines,
    version: () => state.version,
    isEnded: () => state.isEnded,
    isBroken: () => state.isBroken,
    isPaused: () => state.isPaused,
    willHave(number) {
      if (number < lines.first) return isWhole && !lines.isFull
      return number <= lines.last || !state.isPaused
    },
    follow(isFollowing) {
      state.isFollowing = isFollowing
      if (!isFollowing || !state.isPaused) return
      state.isPaused = false
      readNewer()
    },
    loadOlder,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      closeNewer()
      closeOlder?.()
    },
  }
}
