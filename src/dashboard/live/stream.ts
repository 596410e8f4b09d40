// A stream of events that is resumed after each break. It uses fetch, which shows status codes that
// EventSource hides.
import { createParser } from 'eventsource-parser'

export interface StreamEvent {
  name: string
  /** Empty for an event without a number. */
  id: string
  data: string
}

export type StreamState = { kind: 'live' | 'broken' | 'signed-out' }

interface StreamOptions {
  path: string
  /** The number of the last event that the reader has. */
  after?: string
  /** Otherwise it is closed while the page is hidden: HTTP/1.1 allows six connections, over all tabs. */
  isOpenWhileHidden?: boolean
  onEvent(event: StreamEvent): void
  onState?(state: StreamState): void
  /** Ends the stream for good, after an event of this name. */
  lastEvent?: string
}

const firstPauseMs = 1_000
const longestPauseMs = 15_000
/** The server sends a comment at least every 15 s. */
const silenceMs = 40_000

/** Returns a function that ends it. */
export function openStream(options: StreamOptions): () => void {
  const closing = new AbortController()
  void run(options, closing.signal)
  return () => closing.abort()
}

async function run(options: StreamOptions, signal: AbortSignal): Promise<void> {
  let after = options.after ?? ''
  const isHidden = () => document.hidden && !options.isOpenWhileHidden
  let failures = 0
  while (!signal.aborted) {
    if (isHidden()) await untilVisible(signal)
    try {
      for await (const events of connection(options, after, signal)) {
        failures = 0
        for (const event of events) {
          if (signal.aborted) return
          after = event.id || after
          options.onEvent(event)
          if (event.name === options.lastEvent) return
        }
      }
    } catch (error) {
      if (error instanceof SignedOut) return options.onState?.({ kind: 'signed-out' })
    }
    if (signal.aborted || isHidden()) continue
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** failures++) * (0.75 + Math.random() / 2)
    options.onState?.({ kind: 'broken' })
    await pause(pauseMs, signal)
  }
}

class SignedOut extends Error {}

/** Yields the events that arrive together. Throws when the connection breaks or is silent for too long. */
async function* connection(
  { path, onState, isOpenWhileHidden = false }: StreamOptions,
  after: string,
  outer: AbortSignal,
): AsyncGenerator<StreamEvent[]> {
  const silence = new AbortController()
  const signal = AbortSignal.any([outer, silence.signal])
  let timer: ReturnType<typeof setTimeout> | undefined
  const hear = () => {
    clearTimeout(timer)
    timer = setTimeout(() => silence.abort(), silenceMs)
  }
  hear()
  const hide = () => document.hidden && !isOpenWhileHidden && silence.abort()
  document.addEventListener('visibilitychange', hide)
  try {
    const headers = { accept: 'text/event-stream', ...(after && { 'last-event-id': after }) }
    const response = await fetch(`/api/v1${path}`, { headers, signal })
    if (response.status === 401) throw new SignedOut()
    if (!response.ok || !response.body) throw new Error(`the server responded with ${response.status}`)
    onState?.({ kind: 'live' })
    const reader = response.body
      .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
      .getReader()
    const events: StreamEvent[] = []
    const parser = createParser({
      onEvent: ({ event: name = 'message', id = '', data }) => events.push({ name, id, data }),
    })
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      hear()
      parser.feed(value)
      yield events.splice(0)
    }
  } finally {
    document.removeEventListener('visibilitychange', hide)
    clearTimeout(timer)
    silence.abort()
  }
}

/** Or until the signal. */
export function untilVisible(signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal?.aborted) return
      document.removeEventListener('visibilitychange', look)
      signal?.removeEventListener('abort', look)
      resolve()
    }
    document.addEventListener('visibilitychange', look)
    signal?.addEventListener('abort', look)
    look()
  })
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', finish)
      resolve()
    }
    const timer = setTimeout(finish, ms)
    signal.addEventListener('abort', finish)
  })
}
