// A phase of a deploy: what all of its parts need.
import type { Release } from '../../../storage/releases.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import type { InstanceState } from '../../docker/containers/instance-state.ts'
import { type ActorLog, openActorLog } from '../logs/actor-log.ts'
import { retryWhileEngineUnavailable } from '../waiting.ts'
import type { DeployPorts } from './ports.ts'

export interface DeployRef {
  id: string
  serviceId: string
}

export class DeployPhase implements DeployRef {
  readonly id: string
  readonly serviceId: string
  readonly log: ActorLog

  constructor(
    readonly ports: DeployPorts,
    { id, serviceId }: DeployRef,
    readonly signal: AbortSignal,
  ) {
    this.id = id
    this.serviceId = serviceId
    this.log = openActorLog(ports, 'deploy', id)
  }

  /** The same phase with another signal, which is not linked to its own. */
  withSignal(signal: AbortSignal): DeployPhase {
    return new DeployPhase(this.ports, this, signal)
  }

  get release(): Release {
    return requireRelease(this.ports, this.id)
  }

  /** Only for phases before the service is removed. */
  get service(): ServiceRow {
    return this.ports.storage.services.get(this.serviceId)!
  }

  /** Whether the phase started under an earlier daemon: its steps are repeated, and the log says so. */
  get isRepeated(): boolean {
    const last = this.ports.storage.actors.history(this.id).at(-1)
    return last !== undefined && last.at < this.ports.startedAt
  }

  listInstances(): Promise<InstanceState[]> {
    return this.ports.instances.list({ deployId: this.id })
  }

  /** Runs idempotent work, and restarts it whenever the engine becomes unavailable during the work. */
  withEngine<T>(work: () => Promise<T>, onUnavailable?: () => void): Promise<T> {
    return retryWhileEngineUnavailable(this.ports, this.signal, work, onUnavailable)
  }
}

export function requireRelease(ports: Pick<DeployPorts, 'storage'>, deployId: string): Release {
  const release = ports.storage.releases.get(deployId)
  if (!release) throw new Error(`the release of ${deployId} is gone`)
  return release
}
