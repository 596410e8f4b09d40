// One connection to the feed for all tabs of a browser: the tab that holds a lock reads it and passes it on.
// Without locks, as on plain http, each visible tab has its own connection.
import { openStream, type StreamEvent, type StreamState } from './stream.ts'

export type Connection =
  | { kind: 'connecting' | 'live' | 'signed-out' }
  /** `sinceMs`: when the connection was lost. */
  | { kind: 'broken'; sinceMs: number }

type Message =
  /** To the leading tab. */
  | { type: 'ask' | 'reopen' }
  /** From the leading tab: what it has read last. */
  | { type: 'state'; connection: Connection; cursor: string; ready: StreamEvent | null }
  | { type: 'event'; after: string; event: StreamEvent }

interface Reader {
  /** The number of the change before which the records of this page were read. */
  cursor: string
  onEvent(event: StreamEvent): void
  /** Changes were missed: every record may be old. */
  onGap(): void
  onConnection(connection: Connection): void
}

const lockName = 'berth.feed'
const askEveryMs = 5_000
/** A hidden tab answers at once, unless the browser has frozen it. */
const mostUnanswered = 3

/** Reads the feed for as long as the page is open. Returns a function that connects again. */
export function joinFeed(reader: Reader): () => void {
  // Without locks there is no other tab to talk to.
  const locks = navigator.locks as LockManager | undefined
  const channel = locks ? new BroadcastChannel(lockName) : null
  const post = (message: Message) => channel?.postMessage(message)
  let { cursor } = reader
  let connection: Connection = { kind: 'connecting' }
  let ready: StreamEvent | null = null
  let unanswered = 0
  let close: (() => void) | null = null

  function set(next: Connection): void {
    connection = next
    reader.onConnection(next)
  }

  function take(after: string, event: StreamEvent): void {
    if (event.name === 'ready') ready = event
    // Without a number, what changed since the records were read is not in the feed.
    if (after !== cursor || event.name === 'reset' || cursor === '') reader.onGap()
    cursor = event.id || cursor
    reader.onEvent(event)
  }

  function lead(): void {
    close = openStream({
      path: '/events',
      after: cursor,
      isOpenWhileHidden: locks !== undefined,
      onEvent(event) {
        const after = cursor
        take(after, event)
        post({ type: 'event', after, event })
      },
      onState(state) {
        set(toConnection(state, connection))
        postState()
      },
    })
  }

  function postState(): void {
    post({ type: 'state', connection, cursor, ready })
  }

  function reopen(): void {
    if (!close) post({ type: 'reopen' })
    if (!close || connection.kind === 'connecting') return
    close()
    set({ kind: 'connecting' })
    lead()
  }

  function follow(message: Extract<Message, { type: 'state' }>): void {
    const isFirst = connection.kind === 'connecting'
    set(message.connection)
    if (message.ready && !ready) reader.onEvent(message.ready)
    ready = message.ready
    if (Number(message.cursor) > Number(cursor)) reader.onGap()
    cursor = message.cursor
    // This page was served just now, so the server can be reached, with a session.
    if (isFirst && connection.kind !== 'live') reopen()
  }

  channel?.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if (close) {
      if (data.type === 'ask') postState()
      if (data.type === 'reopen') reopen()
      return
    }
    if (data.type === 'state' || data.type === 'event') unanswered = 0
    if (data.type === 'state') follow(data)
    if (data.type === 'event') take(data.after, data.event)
  })
  const retry = () => connection.kind !== 'live' && !document.hidden && reopen()
  addEventListener('online', retry)
  document.addEventListener('visibilitychange', retry)

  let thawed = Promise.resolve()
  let leave = () => {}
  document.addEventListener('freeze', () => {
    thawed = new Promise((resolve) => document.addEventListener('resume', () => resolve(), { once: true }))
    // A frozen tab would answer the others, and read nothing.
    close?.()
    leave()
  })

  async function takeTurns(): Promise<void> {
    for (;;) {
      await thawed
      const waiting = new AbortController()
      leave = () => waiting.abort()
      let isSilent = false
      const timer = setInterval(() => {
        if (close || document.hidden) return
        if (unanswered++ < mostUnanswered) post({ type: 'ask' })
        else {
          isSilent = true
          waiting.abort()
        }
      }, askEveryMs)
      post({ type: 'ask' })
      const held = { signal: waiting.signal }
      await locks!.request(lockName, held, hold).catch(() => undefined)
      if (isSilent) await locks!.request(lockName, { steal: true }, hold).catch(() => undefined)
      // Another tab has stolen the lock, or this one has given it up.
      clearInterval(timer)
      close?.()
      close = null
      unanswered = 0
    }
  }

  function hold(): Promise<void> {
    lead()
    return new Promise((resolve) => {
      leave = resolve
    })
  }

  if (locks) void takeTurns()
  else lead()
  return reopen
}

function toConnection(state: StreamState, before: Connection): Connection {
  if (state.kind !== 'broken') return { kind: state.kind }
  return before.kind === 'broken' ? before : { kind: 'broken', sinceMs: Date.now() }
}
