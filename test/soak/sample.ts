// What the load saw, as plain data: it goes from the process of the load to the one that judges.
// Instants are ms since 1970 by the one clock of this machine; `sentAt` is taken before the first byte
// leaves and `doneAt` after the last has come, so that "sent after" and "done before" can be trusted.

export type QuickKind = 'get' | 'post'
export type SlowKind = 'waiting' | 'streaming' | 'uploading'
export const slowKinds: readonly SlowKind[] = ['waiting', 'streaming', 'uploading']

export interface RequestSample {
  kind: QuickKind | SlowKind
  service: string
  /** Used before, new, or one of its own that is closed after it; or by HTTP/2 over TLS. */
  connection: 'used' | 'new' | 'own' | 'encrypted' | 'new encrypted'
  sentAt: number
  doneAt: number
  /** From the instant it was meant to be sent at. */
  latencyMs: number
  /** How much of that the sender itself was late. */
  lateMs: number
  /** Who answered, as far as an answer came. */
  deploy: string | null
  instance: string | null
  /** The edge's number of the request. */
  requestId: string | null
  /** What is wrong with the answer; null for a good one. */
  fault: string | null
}

export interface StreamSample {
  kind: 'websocket' | 'events'
  service: string
  sentAt: number
  openedAt: number | null
  /** Null for one that the load itself closed. */
  endedAt: number | null
  /** How it ended: `close 1001`, `goodbye`, `cut`. */
  ending: string | null
  deploy: string | null
  instance: string | null
  /** Messages that came. */
  received: number
  /** It was not opened, fell silent, or carried something wrong. Its end alone is no fault. */
  fault: string | null
}

/** What a stretch of the load came to. */
export interface LoadReport {
  requests: RequestSample[]
  streams: StreamSample[]
  /** Streams that are to last and are open right now. */
  open: number
}

/** An instance's container, as Docker abbreviates it: a container's host name is its id. */
export function containerOf({ instance }: { instance: string | null }): string | null {
  return instance?.split('/')[0] ?? null
}

export function isSlow({ kind }: RequestSample): boolean {
  return (slowKinds as readonly string[]).includes(kind)
}

/** Who answered, by the header that the app puts on everything. */
export function answeredBy(header: string | string[] | undefined) {
  const [deploy = null, instance = null] = String(header ?? '').split(' ')
  return { deploy: deploy || null, instance }
}
