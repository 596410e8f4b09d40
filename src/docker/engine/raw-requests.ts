// Requests to the engine for which dockerode has no method, or whose method does more than needed.
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { Engine } from './client.ts'

export interface UploadRequest {
  path: string
  /** Values that are objects are sent as JSON. */
  query: Record<string, unknown>
  headers: Record<string, string>
  body: Readable
  signal: AbortSignal
}

export interface HijackRequest {
  path: string
  /** The protocol of the connection after the upgrade. */
  protocol: string
  headers: Record<string, string | string[]>
  signal: AbortSignal
}

const refusals = { 400: 'bad parameter', 404: 'no such thing', 500: 'server error' }

/** Sends a tar archive; resolves to the answer as it comes. Rejects as dockerode's methods do. */
export function upload(engine: Engine, { path, query, headers, body, signal }: UploadRequest) {
  return dial<NodeJS.ReadableStream>(engine, {
    method: 'POST',
    path: `${path}?`,
    options: query,
    headers,
    file: body,
    isStream: true,
    abortSignal: signal,
    statusCodes: { 200: true, ...refusals },
  })
}

/** Without a body; resolves to the JSON of the answer. */
export function post(
  engine: Engine,
  { path, query, signal }: Pick<UploadRequest, 'path' | 'query' | 'signal'>,
): Promise<Record<string, unknown>> {
  return dial(engine, {
    method: 'POST',
    path: `${path}?`,
    options: query,
    abortSignal: signal,
    statusCodes: { 200: true, ...refusals },
  })
}

/** Upgrades an HTTP connection to another protocol. The caller owns the connection and closes it. */
export function hijack(engine: Engine, { path, protocol, headers, signal }: HijackRequest): Promise<Socket> {
  return dial<Socket>(engine, {
    method: 'POST',
    path,
    hijack: true,
    headers: { ...headers, Upgrade: protocol },
    abortSignal: signal,
    statusCodes: refusals,
  })
}

type DialOptions = Parameters<Engine['docker']['modem']['dial']>[0]

function dial<T>({ docker }: Engine, request: DialOptions): Promise<T> {
  return new Promise((resolve, reject) => {
    docker.modem.dial(request, (error, response) => (error ? reject(error) : resolve(response as T)))
  })
}
