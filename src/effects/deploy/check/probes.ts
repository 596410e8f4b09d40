// The probes of an instance: an HTTP response, a TCP connection, or that it still runs.
import { request } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import type { Socket } from 'node:net'
import type { HealthCheck } from '../../../../machines/deploy/deploy-context.ts'
import type { ServiceSettings } from '../../../../storage/services.ts'
import type { InstanceState } from '../../../docker/containers/instance-state.ts'
import { duration } from '../../../quantities.ts'
import { dial, tryConnection } from '../../connection.ts'
import { isoNow } from '../../iso-now.ts'

export interface Probe {
  kind: HealthCheck
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
/** The result of a probe that got no response of its version of HTTP. */
export const otherProtocol = 'a response of another protocol'

/** Null if the instance is healthy, otherwise the reason. */
export type Healthcheck = (instance: InstanceState, signal: AbortSignal) => Promise<string | null>

interface ProbeOptions {
  settings: ServiceSettings
  port: number
  hostName: string
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
  if (kind === 'path') return httpProbe(settings, port, hostName)
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
function httpProbe({ health_check_path, protocol }: ServiceSettings, port: number, hostName: string): Probe {
  const path = percentEncode(health_check_path!)
  const send = protocol === 'h2c' ? sendHttp2 : sendHttp1
  return {
    kind: 'path',
    text: `GET ${health_check_path} on port ${port}${protocol === 'h2c' ? ' over HTTP/2' : ''}`,
    async run({ address }, signal) {
      const connection = () => dial(address!, port, attemptTimeoutMs)
      const result = await send(connection, { host: hostName, path }, signal)
      if (result instanceof Error) return reasonOf(result)
      return result >= 200 && result < 400 ? null : String(result)
    },
  }
}

interface Asked {
  host: string
  path: string
}

type Send = (connect: () => Socket, asked: Asked, signal: AbortSignal) => Promise<number | Error>

const agent = { 'user-agent': 'Berth' }

const sendHttp1: Send = (connect, { host, path }, signal) =>
  new Promise((resolve) => {
    const headers = { host, ...agent }
    const options = { path, signal, headers, timeout: attemptTimeoutMs, createConnection: connect }
    const probing = request(options, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
      probing.destroy()
    })
    probing.once('timeout', () => probing.destroy(new Error('no response')))
    probing.once('error', resolve)
    probing.end()
  })

const sendHttp2: Send = (connect, { host, path }, signal) =>
  new Promise((resolve) => {
    const session = connectHttp2(`http://${host}`, { createConnection: connect })
    const settle = (result: number | Error) => {
      resolve(result)
      session.destroy()
    }
    session.setTimeout(attemptTimeoutMs, () => settle(new Error('no response')))
    session.on('error', settle)
    const probing = session.request({ ':authority': host, ':path': path, ...agent }, { signal })
    probing.on('error', (error) => settle(error.cause instanceof Error ? error.cause : error))
    probing.once('response', (headers) => settle(headers[':status'] ?? 0))
    probing.once('close', () => settle(new Error('no response')))
  })

/** Encodes the path like a browser. Node would send some characters as other bytes and refuse the rest. */
export function percentEncode(path: string): string {
  return path.replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}

function reasonOf(error: Error & { code?: string }): string {
  const known: Record<string, string> = {
    ECONNREFUSED: refused,
    ECONNRESET: 'connection reset',
    HPE_INVALID_CONSTANT: otherProtocol,
    ERR_HTTP2_ERROR: otherProtocol,
  }
  return known[error.code ?? ''] ?? error.message
}
