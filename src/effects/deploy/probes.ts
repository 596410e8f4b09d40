// What can be asked of an instance: an HTTP answer, a TCP connection, or that it still runs.
import { request } from 'node:http'
import type { ServiceSettings } from '../../../storage/services.ts'
import type { InstanceState } from '../../docker/instance-state.ts'
import { tryConnection } from '../connection.ts'
import { isoNow } from '../host.ts'

export interface Probe {
  /** What it does, in the words of the log. */
  text: string
  /** null when it passed, else why not. */
  run(instance: InstanceState, signal: AbortSignal): Promise<string | null>
}

const workerMustRunMs = 5000
const attemptMs = 5000
/** The answer of a probe that only time can pass. */
export const notYet = 'not yet'

export function chooseProbe(settings: ServiceSettings, port: number, hostName: string): Probe {
  if (settings.type === 'background_worker') return runningProbe()
  return settings.health_check_path ? httpProbe(settings.health_check_path, port, hostName) : tcpProbe(port)
}

function runningProbe(): Probe {
  const sinceStart = ({ startedAt }: InstanceState) => Date.now() - Date.parse(startedAt ?? isoNow())
  return {
    text: `still running after ${workerMustRunMs / 1000} s`,
    run: async (instance) => (sinceStart(instance) >= workerMustRunMs ? null : notYet),
  }
}

function tcpProbe(port: number): Probe {
  return {
    text: `TCP connection to port ${port}`,
    async run({ address }, signal) {
      const place = { host: address!, port, timeoutMs: attemptMs }
      const refusal = await tryConnection(place, new Error('no answer'), signal)
      return refusal && reasonOf(refusal)
    },
  }
}

/** 2xx and 3xx pass. The Host is the service's own first host. */
function httpProbe(path: string, port: number, hostName: string): Probe {
  return {
    text: `GET ${path} on port ${port}`,
    run: ({ address }, signal) =>
      new Promise((resolve) => {
        const options = {
          host: address!,
          port,
          path: inAscii(path),
          signal,
          headers: { host: hostName },
          timeout: attemptMs,
        }
        const probing = request({ ...options, agent: false }, (response) => {
          response.resume()
          const { statusCode = 0 } = response
          resolve(statusCode >= 200 && statusCode < 400 ? null : String(statusCode))
          probing.destroy()
        })
        probing.once('timeout', () => probing.destroy(new Error('no answer')))
        probing.once('error', (error) => resolve(reasonOf(error)))
        probing.end()
      }),
  }
}

/** As a browser would send it; node would send a part of it as other bytes, and refuse the rest. */
export function inAscii(path: string): string {
  return path.replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}

function reasonOf(error: Error & { code?: string }): string {
  const known: Record<string, string> = { ECONNREFUSED: 'connection refused', ECONNRESET: 'connection reset' }
  return known[error.code ?? ''] ?? error.message
}
