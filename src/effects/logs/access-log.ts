// Handles each request that the edge reports: a line in the access log of its service, and a count. There can
// be thousands per second, so nothing here waits.
import type { Storage } from '../../../storage/index.ts'
import type { AccessMark } from '../../edge/access-events.ts'
import type { AccessLine } from '../../edge/access-line.ts'
import type { TrafficNumbers } from '../traffic/traffic-numbers.ts'

interface Parts {
  storage: Pick<Storage, 'accessLogs' | 'services'>
  traffic: Pick<TrafficNumbers, 'record' | 'forget'>
}

export class AccessLog {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Never throws. Requests of a deleted service are not recorded: their log would never be removed. */
  recordAccess(line: AccessLine): void {
    const name = this.#nameOf(line.serviceId)
    if (name === null) return
    this.#parts.traffic.record(line, name)
    this.#parts.storage.accessLogs.append(line.serviceId, 'access', '', line.at, { access: toRecord(line) })
  }

  /** The newest stored request: a reader of the edge continues after it. */
  async newest(): Promise<AccessMark | null> {
    const { accessLogs } = this.#parts.storage
    const lines = await Promise.all((await accessLogs.ids()).map((id) => accessLogs.tail(id, 1)))
    const ends = lines.flat().flatMap(({ ts, about }) => {
      const access = about?.access as AccessRecord | undefined
      return access ? [{ id: access.request_id, at: Date.parse(ts) + access.duration_ms }] : []
    })
    return ends.sort((a, b) => b.at - a.at)[0] ?? null
  }

  async remove(serviceId: string): Promise<void> {
    this.#parts.traffic.forget(serviceId)
    await this.#parts.storage.accessLogs.remove(serviceId)
  }

  /** Null for a service that no longer exists or is being deleted. */
  #nameOf(serviceId: string): string | null {
    try {
      const service = this.#parts.storage.services.get(serviceId)
      return service && !service.deleting ? service.name : null
    } catch {
      // Requests of a service with a damaged row are still recorded.
      return serviceId
    }
  }
}

function toRecord(line: AccessLine) {
  return {
    request_id: line.id,
    client: line.client,
    method: line.method,
    host: line.host,
    path: line.path,
    protocol: line.protocol,
    tls: line.tls,
    status: line.status,
    failure: line.failure,
    bytes_in: line.bytesIn,
    bytes_out: line.bytesOut,
    duration_ms: line.durationMs,
    user_agent: line.userAgent,
    deploy_id: line.deployId,
    instance: line.instance,
  }
}

export type AccessRecord = ReturnType<typeof toRecord>
