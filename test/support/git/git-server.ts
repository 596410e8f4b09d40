// A smart-HTTP git server on a free port: node:http in front of `git http-backend`.
// Each request can be handled differently, for remotes that refuse, redirect or stall.
import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HostRules } from '../../../src/git/remote-host.ts'
import type { Scope } from '../system/directory.ts'

/** Where a git server of a test has the usual port of http: an ssh address has no port for it. */
export const portlessAddress = '127.77.14.1'

/** Git servers of tests listen on loopback. The `.invalid` names are resolved by the tests themselves. */
export const testHostRules: HostRules = {
  denyPrivateHosts: false,
  localHosts: ['127.0.0.1', portlessAddress, 'localhost', 'git.invalid'],
}

export interface GitServerRequest {
  method: string
  /** With the query. */
  path: string
  authorization: string | null
}

/**
 * `serve` and `stall` check the credentials first. `hang` never responds. `stall` sends only the first 128
 * KiB of a larger response: git waits for a whole packet of up to 64 KiB before it reads a pack.
 */
export type GitServerAnswer =
  | 'serve'
  | 'hang'
  | 'stall'
  | { status: number; text?: string }
  | { redirect: string }

export interface GitServerOptions {
  /** The folder whose repositories are served by name. */
  root: string
  credentials?: { username: string; password: string }
  /** Uses version 0 of the git protocol, in which a server only serves what its refs name. */
  speaksOldProtocol?: boolean
  /** Whether it responds to the request itself. */
  intercept?: (request: IncomingMessage, response: ServerResponse) => boolean
  /** `serve` by default. */
  answer?: (request: GitServerRequest) => GitServerAnswer
}

export interface GitServer {
  /** Without a trailing slash. */
  url: string
  requests: GitServerRequest[]
}

const stallBytes = 128 * 1024

export async function createGitServer(t: Scope, options: GitServerOptions): Promise<GitServer> {
  const requests: GitServerRequest[] = []
  const server = createServer((request, response) => {
    if (options.intercept?.(request, response)) return
    const { method = 'GET', url: path = '/', headers } = request
    const seen = { method, path, authorization: headers.authorization ?? null }
    requests.push(seen)
    const answer = options.answer?.(seen) ?? 'serve'
    if (answer === 'hang') return
    if (typeof answer === 'object') refuse(answer, response)
    else if (!isAllowed(seen, options)) demandCredentials(response)
    else serve(backendEnvironment(options, request), request, response, answer === 'stall')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

/** Serves a repository of the folder to a request that is allowed already. */
export function serveRepository(
  options: Pick<GitServerOptions, 'root'>,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  serve(backendEnvironment(options, request), request, response, false)
}

function isAllowed({ authorization }: GitServerRequest, { credentials }: GitServerOptions): boolean {
  if (credentials === undefined) return true
  const { username, password } = credentials
  return authorization === `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

function demandCredentials(response: ServerResponse): void {
  response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('who are you?')
}

function refuse(
  answer: { status: number; text?: string } | { redirect: string },
  response: ServerResponse,
): void {
  if ('redirect' in answer) response.writeHead(302, { location: answer.redirect }).end()
  else response.writeHead(answer.status, { 'content-type': 'text/plain' }).end(answer.text ?? '')
}

/** `git http-backend` is a CGI program: its output is headers, an empty line and the body. */
function serve(
  env: NodeJS.ProcessEnv,
  request: IncomingMessage,
  response: ServerResponse,
  stalls: boolean,
): void {
  const backend = spawn('git', ['http-backend'], { env })
  const chunks: Buffer[] = []
  request.pipe(backend.stdin).on('error', () => {})
  backend.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  backend.on('close', () => {
    const output = Buffer.concat(chunks)
    const end = output.indexOf('\r\n\r\n')
    writeHead(response, output.subarray(0, end).toString())
    const body = output.subarray(end + 4)
    if (stalls && body.length > stallBytes) response.write(body.subarray(0, stallBytes))
    else response.end(body)
  })
}

function writeHead(response: ServerResponse, head: string): void {
  for (const line of head.split('\r\n')) {
    const [name = '', value = ''] = line.split(': ')
    if (name === 'Status') response.statusCode = Number.parseInt(value, 10)
    else response.setHeader(name, value)
  }
}

function backendEnvironment(options: GitServerOptions, request: IncomingMessage): NodeJS.ProcessEnv {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://server')
  return {
    PATH: process.env.PATH,
    HOME: '/dev/null',
    GIT_PROJECT_ROOT: options.root,
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: pathname,
    QUERY_STRING: searchParams.toString(),
    REQUEST_METHOD: request.method,
    CONTENT_TYPE: request.headers['content-type'] ?? '',
    HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
    GIT_PROTOCOL: options.speaksOldProtocol ? '' : String(request.headers['git-protocol'] ?? ''),
  }
}
