// Samples of the load as plain data, sent from its process to the judge.
// Timestamps are ms since 1970 by the machine's clock. `sentAt` is taken before the first byte is sent and
// `doneAt` after the last one arrives, so comparisons with them are safe.

export type QuickKind = 'get' | 'post'
export type SlowKind = 'waiting' | 'streaming' | 'uploading'
export const slowKinds: readonly SlowKind[] = ['waiting', 'streaming', 'uploading']

export interface RequestSample {
  kind: QuickKind | SlowKind
  service: string
  /** Reused, new, or closed after this request; or HTTP/2 over TLS. */
  connection: 'used' | 'new' | 'own' | 'encrypted' | 'new encrypted'
  sentAt: number
  doneAt: number
  /** The sender of the response, if one arrived. */
  deploy: string | null
  instance: string | null
  /** The edge's request id. */
  requestId: string | null
  /** The fault of the response, or null. */
  fault: string | null
}

export interface StreamSample {
  kind: 'websocket' | 'events'
  service: string
  sentAt: number
  openedAt: number | null
  /** Null if the load closed it. */
  endedAt: number | null
  /** How it ended: `close 1001`, `goodbye`, `cut`. */
  ending: string | null
  deploy: string | null
  instance: string | null
  /** The number of messages received. */
  received: number
  /** It was refused, fell silent, or had wrong content. Ending is not a fault in itself. */
  fault: string | null
}

/** A batch of the load's samples. */
export interface LoadReport {
  requests: RequestSample[]
  streams: StreamSample[]
  /** Lasting streams that are open now. */
  open: number
}

/** Docker's short id of an instance's container, which is also its host name. */
export function containerOf({ instance }: { instance: string | null }): string | null {
  return instance?.split('/')[0] ?? null
}

export function isSlow({ kind }: RequestSample): boolean {
  return (slowKinds as readonly string[]).includes(kind)
}

/** The sender of a response, from the header that the app always sets. */
export function answeredBy(header: string | string[] | undefined) {
  const [deploy = null, instance = null] = String(header ?? '').split(' ')
  return { deploy: deploy || null, instance }
}
