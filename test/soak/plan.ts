// What the load is to do, as plain data: it goes to the process of the load as an argument.

export interface LoadPlan {
  seed: number
  services: ServiceLoad[]
}

export interface ServiceLoad {
  service: string
  /** Where on 127.0.0.1, and by which host name. */
  port: number
  host: string
  /** Quick requests, whatever becomes of those before. */
  perSecond: number
  /** More of them, by HTTP/2 over TLS; null for none. */
  encrypted: { port: number; perSecond: number } | null
  /** Slow requests that are under way at any time, and how long they take. */
  slow: number
  slowMs: { least: number; most: number }
  webSockets: number
  eventStreams: number
}

/** A silence of this length is a fault: far beyond what a busy machine makes of a second. */
export const patienceMs = 20_000

/** Every other stream of a kind is closed by the load itself after a while; the first lasts. */
export function isFleeting(index: number): boolean {
  return index % 2 === 1
}

/** How many streams are meant to last, all services together. */
export function lastingStreams({ services }: LoadPlan): number {
  return services.reduce(
    (sum, { webSockets, eventStreams }) => sum + Math.ceil(webSockets / 2) + Math.ceil(eventStreams / 2),
    0,
  )
}
