// The plan of the load as plain data, which is passed to its process as an argument.

export interface LoadPlan {
  seed: number
  services: ServiceLoad[]
}

export interface ServiceLoad {
  service: string
  /** The port on 127.0.0.1 and the host name. */
  port: number
  host: string
  /** The rate of quick requests. */
  perSecond: number
  /** The rate of further ones by HTTP/2 over TLS, or null. */
  encrypted: { port: number; perSecond: number } | null
  /** The number of concurrent slow requests, and their duration. */
  slow: number
  slowMs: { least: number; most: number }
  webSockets: number
  eventStreams: number
}

/** A longer silence is a fault; it is far above what a busy machine adds to a one-second interval. */
export const timeoutMs = 20_000

/** The load itself closes every other stream of a kind after a while; the first one lasts. */
export function isFleeting(index: number): boolean {
  return index % 2 === 1
}

/** The number of lasting streams of all services. */
export function lastingStreams({ services }: LoadPlan): number {
  return services.reduce(
    (sum, { webSockets, eventStreams }) => sum + Math.ceil(webSockets / 2) + Math.ceil(eventStreams / 2),
    0,
  )
}
