// The probes of an instance: an HTTP response, a TCP connection, or that it still runs.

import { request } from 'node:http'
import type { HealthCheck } from '../../../../machines/deploy/deploy-context.ts'
import type { ServiceSettings } from '../../../../storage/services.ts'
import type { InstanceState } from '../../../docker/containers/instance-state.ts'
import { duration } from '../../../quantities.ts'
import { dial } from '../../dial.ts'
import { isoNow } from '../../iso-now.ts'
import { tryConnection } from '../../try-connection.ts'

export interface Probe {
  kind: HealthCheck
  /** A description for the log. */
  text: string
  /** Null if the instance passed, otherwise the reason. */
  run(instance: InstanceState, signal: AbortSignal): Promise<string | null>
}

const workerMinRunMs = 5000
const attemptTimeoutMs = 5000
/** The result of a probe that needs only more time. */
export const notYet = 'not yet'
/** The result of a probe to a port on which nothing listens. */
export const refused = 'connection refused'

/** Null if the instance is healthy, otherwise the reason. */
export type Healthcheck = (instance: InstanceState, signal: AbortSignal) => Promise<string | null>

/** The input for choosing a probe. */
export interface ProbeOptions {
  settings: ServiceSettings
  port: number
  hostName: string
  /** Whether the image has a HEALTHCHECK. */
  hasHealthcheck: boolean
  healthcheck: Healthcheck
}

/** The kind of probe: the health path, or else the HEALTHCHECK of the image, or else listening or running. */
export function kindOfProbe({
  settings,
  hasHealthcheck,
}: Pick<ProbeOptions, 'settings' | 'hasHealthcheck'>): HealthCheck {
  if (settings.type !== 'background_worker' && settings.health_check_path) return 'path'
  if (hasHealthcheck) return 'image'
  return settings.type === 'background_worker' ? 'running' : 'port'
}

export function chooseProbe(checked: ProbeOptions): Probe {
  const { settings, port, hostName, healthcheck } = checked
  const kind = kindOfProbe(checked)
  if (kind === 'path') return httpProbe(settings.health_check_path!, port, hostName)
  if (kind === 'running') return runningProbe()
  if (kind === 'port') return tcpProbe(port)
  return imageProbe(settings.type === 'background_worker' ? null : tcpProbe(port), healthcheck)
}

/** The port must also be reachable from outside of the instance, where requests come from. */
function imageProbe(reached: Probe | null, healthcheck: Healthcheck): Probe {
  const text = 'the HEALTHCHECK of the image'
  if (reached === null) return { kind: 'image', text, run: healthcheck }
  return {
    kind: 'image',
    text: `${reached.text}, and ${text}`,
    run: async (instance, signal) =>
      (await reached.run(instance, signal)) ?? (await healthcheck(instance, signal)),
  }
}

function runningProbe(): Probe {
  const sinceStart = ({ startedAt }: InstanceState) => Date.now() - Date.parse(startedAt ?? isoNow())
  return {
    kind: 'running',
    text: `still running after ${duration(workerMinRunMs)}`,
    run: async (instance) => (sinceStart(instance) >= workerMinRunMs ? null : notYet),
  }
}

function tcpProbe(port: number): Probe {
  return {
    kind: 'port',
    text: `TCP connection to port ${port}`,
    async run({ address }, signal) {
      const target = { address: address!, port, timeoutMs: attemptTimeoutMs }
      const refusal = await tryConnection(target, new Error('no response'), signal)
      return refusal && reasonOf(refusal)
    },
  }
}

/** 2xx and 3xx pass. The Host header is the service's first host. */
function httpProbe(path: string, port: number, hostName: string): Probe {
  return {
    kind: 'path',
    text: `GET ${path} on port ${port}`,
    run: ({ address }, signal) =>
      new Promise((resolve) => {
        const options = {
          path: percentEncode(path),
          signal,
          headers: { host: hostName, 'user-agent': 'Berth' },
          timeout: attemptTimeoutMs,
          createConnection: () => dial(address!, port, attemptTimeoutMs),
        }
        const probing = request(options, (response) => {
          response.resume()
          const { statusCode = 0 } = response
          resolve(statusCode >= 200 && statusCode < 400 ? null : String(statusCode))
          probing.destroy()
        })
        probing.once('timeout', () => probing.destroy(new Error('no response')))
        probing.once('error', (error) => resolve(reasonOf(error)))
        probing.end()
      }),
  }
}

/** Encodes the path like a browser. Node would send some characters as other bytes and refuse the rest. */
export function percentEncode(path: string): string {
  return path.replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}

function reasonOf(error: Error & { code?: string }): string {
  const known: Record<string, string> = { ECONNREFUSED: refused, ECONNRESET: 'connection reset' }
  return known[error.code ?? ''] ?? error.message
}
