// The Docker engine as effects use it.
import type { Engine } from '../../docker/engine/client.ts'
import type { Owner } from '../../docker/engine/names.ts'

export interface EnginePorts {
  engine: Engine
  owner: Owner
  /** Resolves when the engine answers and the network exists. It waits until the signal ends. */
  engineReady(signal: AbortSignal): Promise<PrivateNetwork>
}

export interface PrivateNetwork {
  name: string
  range: { first: string; last: string }
  /** The host's own address in the network. */
  gateway: string
}

/** Limits of containers whose service or datastore sets none. */
export interface DefaultLimits {
  defaultMemoryLimitMb: number
  defaultCpuLimit: number
  pidsLimit: number
}
