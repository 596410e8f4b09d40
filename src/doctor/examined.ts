// What the checks look at: the same for a daemon that examines its own host and for `berthd doctor`.
import type { Storage } from '../../storage/index.ts'
import type { Config } from '../config/config.ts'
import type { Engine } from '../docker/engine/client.ts'
import type { Finding } from './finding.ts'

export interface Examined {
  config: Config
  engine: Pick<Engine, 'host' | 'call' | 'docker'>
  /** Null if it cannot be opened. */
  stored: Stored | null
  /** Why the store cannot be opened; null if it is open, or if there is no data directory yet. */
  storeError: { code: string; message: string } | null
  /** The process of the server; null while it is stopped. */
  pid: number | null
  /** What only the server itself knows; null on the host. */
  live: Live | null
}

export type Stored = Pick<Storage, 'actors' | 'datastores' | 'usedBytes'>

export interface Live {
  /** Why the rules that isolate services are not in force; null if they are. */
  isolationReason: string | null
  /** Why the limits of builds are not in force; null if they are. */
  buildsReason: string | null
  /** Since when BuildKit hangs; null while it works. */
  builderHangsSince: string | null
}

export interface Check {
  name: string
  /** Its findings, or what is good, with the values. Ends with the signal. */
  look(examined: Examined, signal: AbortSignal): Promise<Finding[] | string>
}
