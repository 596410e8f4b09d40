// The session through which BuildKit, during a build, requests data that must not be in the build itself:
// secret values and registry credentials. The session is gRPC over a connection that berthd opened, so the
// engine is the client here. An engine whose health checks get no response drops the session.
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type handleUnaryCall, Server, ServerCredentials, status } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import { Failure } from '../../errors.ts'
import type { Engine } from '../engine/client.ts'
import { hijack } from '../engine/raw-requests.ts'
import { credentialsFor, type RegistryCredentials } from '../images/registry-credentials.ts'

export interface BuildSecret {
  /** The id in the Dockerfile: `RUN --mount=type=secret,id=KEY`. */
  key: string
  /** Mounted as UTF-8; BuildKit mounts no file for an empty one. */
  value: string
}

export interface SessionContent {
  secrets: readonly BuildSecret[]
  registries: readonly RegistryCredentials[]
}

export interface BuildSession {
  id: string
  /** Never resolves; rejects with `docker_unavailable` when the engine hangs up before `close`. */
  lost: Promise<never>
  close(): void
}

const schema = `
  syntax = "proto3";
  message GetSecretRequest { string id = 1; }
  message GetSecretResponse { bytes data = 1; }
  message CredentialsRequest { string host = 1; }
  message CredentialsResponse {
    string username = 1;
    string secret = 2;
  }
  message HealthCheckRequest { string service = 1; }
  message HealthCheckResponse { int32 status = 1; }
`

const { root } = protobuf.parse(schema)
const serving = 1

/** A method for the engine: `answer` gets the decoded request and returns the fields of the response. */
interface Method<Request> {
  path: string
  request: string
  response: string
  answer(request: Request): object
}

/** Throws the errors of an engine call. Newer engines request credentials only after refused tokens. */
export async function openBuildSession(
  engine: Engine,
  content: SessionContent,
  signal: AbortSignal,
): Promise<BuildSession> {
  const id = randomUUID()
  const server = createServer(content)
  const request = { path: '/session', protocol: 'h2c', headers: toHeaders(id), signal }
  const socket = await engine.call('open a build session', () => hijack(engine, request), { signal })
  server.createConnectionInjector(ServerCredentials.createInsecure()).injectConnection(socket)
  const { lost, expect } = watchLoss(socket)
  // Node reads what came already a tick later; closed before, that would end the process.
  await nextTurn()
  const close = () => {
    expect()
    server.forceShutdown()
    socket.destroy()
  }
  return { id, lost, close }
}

const getSecretPath = '/moby.buildkit.secrets.v1.Secrets/GetSecret'
const credentialsPath = '/moby.filesync.v1.Auth/Credentials'
const healthPath = '/grpc.health.v1.Health/Check'

function createServer({ secrets, registries }: SessionContent): Server {
  const server = new Server()
  const values = new Map(secrets.map(({ key, value }) => [key, Buffer.from(value)]))
  serve<{ id: string }>(server, {
    path: getSecretPath,
    request: 'GetSecretRequest',
    response: 'GetSecretResponse',
    answer: ({ id }) => ({ data: values.get(id) ?? refuse(status.NOT_FOUND, `there is no secret ${id}`) }),
  })
  serve<{ host: string }>(server, {
    path: credentialsPath,
    request: 'CredentialsRequest',
    response: 'CredentialsResponse',
    answer: ({ host }) => {
      const credentials = credentialsFor(registries, host)
      return credentials === null ? {} : { username: credentials.username, secret: credentials.password }
    },
  })
  serve(server, {
    path: healthPath,
    request: 'HealthCheckRequest',
    response: 'HealthCheckResponse',
    answer: () => ({ status: serving }),
  })
  return server
}

function serve<Request>(server: Server, { path, request, response, answer }: Method<Request>): void {
  const [Request, Response] = [root.lookupType(request), root.lookupType(response)]
  const handle: handleUnaryCall<Request, object> = (call, respond) => {
    try {
      respond(null, answer(call.request))
    } catch (error) {
      respond(error as Error)
    }
  }
  const encode = (fields: object) => Buffer.from(Response.encode(fields).finish())
  const decode = (bytes: Buffer) => Request.toObject(Request.decode(bytes), { defaults: true }) as Request
  server.register(path, handle, encode, decode, 'unary')
}

function refuse(code: status, details: string): never {
  throw Object.assign(new Error(details), { code, details })
}

/** BuildKit calls the methods that are announced here. */
function toHeaders(id: string): Record<string, string | string[]> {
  return {
    'X-Docker-Expose-Session-Uuid': id,
    'X-Docker-Expose-Session-Name': 'berth',
    'X-Docker-Expose-Session-Grpc-Method': [getSecretPath, credentialsPath, healthPath],
  }
}

function watchLoss(socket: Socket) {
  let isExpected = false
  const lost = new Promise<never>((_, reject) => {
    const failure = new Failure('docker_unavailable', 'Docker ended the build session')
    socket.on('close', () => !isExpected && reject(failure))
  })
  lost.catch(() => {})
  const expect = () => {
    isExpected = true
  }
  return { lost, expect }
}
