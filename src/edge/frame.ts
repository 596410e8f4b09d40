// The part of the configuration that all services share: HAProxy is reloaded only when it changes.
import type { Limits } from './limits.ts'

export interface Frame {
  httpPort: number
  httpsPort: number
  /** Whether the host has IPv6; without it a bind would fail. */
  hasIpv6: boolean
  /** The owner of the sockets if the edge runs as root and the daemon does not. */
  socketOwner: { uid: number; gid: number } | null
  /** The user of the worker, which has an empty root directory; null for the user that starts HAProxy. */
  worker: { uid: number; gid: number } | null
  /** Addresses and networks whose X-Forwarded-* headers are trusted. */
  trustedProxies: readonly string[]
  /** The address and host name of the API, and the secret that proves requests of the edge. */
  dashboard: { address: string; host: string; secret: string } | null
  limits: Limits
  /** A host that only this edge answers: the daemon asks for it to know whether it has its ports. */
  ownHost: string
  pools: number
  /** The number of slots of pools that have more than the minimum, by pool number. */
  slots: ReadonlyMap<number, number>
  /** The slots whose upstreams speak HTTP/2, such as `p7/s1`: commands cannot change the protocol. */
  http2Slots: ReadonlySet<string>
}

/** Without the parts that follow from the routes. */
export type BaseFrame = Omit<Frame, 'slots' | 'http2Slots'>
