// A gRPC service with a method of each kind, and a client for it. Messages are texts.
import {
  type ChannelOptions,
  Client,
  credentials,
  type handleBidiStreamingCall,
  type handleClientStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  type MethodDefinition,
  Server,
  ServerCredentials,
  status,
} from '@grpc/grpc-js'
import type { Scope } from '../system/directory.ts'

function method(name: string, requestStream: boolean, responseStream: boolean) {
  const serialize = (message: string) => Buffer.from(message)
  const parse = (bytes: Buffer) => bytes.toString()
  const coding = { requestSerialize: serialize, requestDeserialize: parse }
  const path = `/test.Echo/${name}`
  return {
    path,
    requestStream,
    responseStream,
    ...coding,
    responseSerialize: serialize,
    responseDeserialize: parse,
  }
}

const methods = {
  Say: method('Say', false, false),
  Count: method('Count', false, true),
  Gather: method('Gather', true, false),
  Talk: method('Talk', true, true),
} satisfies Record<string, MethodDefinition<string, string>>

/** Returns its port. Answers name the version. A message `fail` ends a call with the status `not found`. */
export async function serveGrpc(t: Scope, version: string): Promise<number> {
  const server = new Server()
  const failure = { code: status.NOT_FOUND, details: `nothing in ${version}`, metadata: trailers(version) }
  const say: handleUnaryCall<string, string> = ({ request }, callback) =>
    request === 'fail' ? callback(failure) : callback(null, `${version} ${request}`, trailers(version))
  const count: handleServerStreamingCall<string, string> = async (call) => {
    const [most, pauseMs] = call.request.split(' ').map(Number) as [number, number]
    for (let number = 1; number <= most && !call.cancelled; number++) {
      call.write(`${version} ${number}`)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
    call.end(trailers(version))
  }
  const gather: handleClientStreamingCall<string, string> = (call, callback) => {
    const received: string[] = []
    call.on('data', (message: string) => received.push(message))
    call.on('end', () => callback(null, `${version} ${received.join(' ')}`, trailers(version)))
  }
  const talk: handleBidiStreamingCall<string, string> = (call) => {
    call.on('data', (message: string) =>
      message === 'fail' ? call.emit('error', failure) : call.write(`${version} ${message}`),
    )
    call.on('end', () => call.end(trailers(version)))
  }
  server.addService(methods, { Say: say, Count: count, Gather: gather, Talk: talk })
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, found) =>
      error ? reject(error) : resolve(found),
    ),
  )
  t.after(() => server.forceShutdown())
  return port
}

function trailers(version: string): Metadata {
  const metadata = new Metadata()
  metadata.set('x-version', version)
  return metadata
}

/** What a call has received: its messages, and how it ended. */
interface Called {
  messages: string[]
  code: status
  details: string
  /** The version that the trailers name. */
  trailer: string
}

interface GrpcClient {
  say(message: string): Promise<Called>
  count(most: number, pauseMs: number): Promise<Called>
  gather(messages: string[]): Promise<Called>
  /** Sends each message after the answer to the one before. */
  talk(messages: string[]): Promise<Called>
}

/** Over TLS. */
export function openGrpc(t: Scope, port: number, authority: string): GrpcClient {
  const options: ChannelOptions = { 'grpc.default_authority': authority, 'grpc.enable_retries': 0 }
  const secure = credentials.createSsl(null, null, null, { rejectUnauthorized: false })
  const client = new Client(`127.0.0.1:${port}`, secure, options)
  t.after(() => client.close())
  const { Say, Count, Gather, Talk } = methods
  return {
    say: (message) =>
      new Promise((resolve) => {
        const messages: string[] = []
        const call = client.makeUnaryRequest(
          Say.path,
          Say.requestSerialize,
          Say.responseDeserialize,
          message,
          (_, answer) => void (answer !== undefined && messages.push(answer)),
        )
        call.on('status', (ended) => resolve(toCalled(messages, ended)))
      }),
    count: (most, pauseMs) =>
      received(
        client.makeServerStreamRequest(
          Count.path,
          Count.requestSerialize,
          Count.responseDeserialize,
          `${most} ${pauseMs}`,
        ),
      ),
    gather: (messages) =>
      new Promise((resolve) => {
        const answers: string[] = []
        const call = client.makeClientStreamRequest(
          Gather.path,
          Gather.requestSerialize,
          Gather.responseDeserialize,
          (_, answer) => void (answer !== undefined && answers.push(answer)),
        )
        call.on('status', (ended) => resolve(toCalled(answers, ended)))
        for (const message of messages) call.write(message)
        call.end()
      }),
    talk(messages) {
      const call = client.makeBidiStreamRequest(Talk.path, Talk.requestSerialize, Talk.responseDeserialize)
      const rest = [...messages]
      const next = () => {
        const message = rest.shift()
        if (message === undefined) call.end()
        else call.write(message)
      }
      call.on('data', next)
      next()
      return received(call)
    },
  }
}

interface Ended {
  code: status
  details: string
  metadata: Metadata
}

interface Readable {
  on(event: 'data', listener: (message: string) => void): unknown
  on(event: 'error', listener: () => void): unknown
  on(event: 'status', listener: (ended: Ended) => void): unknown
}

function received(call: Readable): Promise<Called> {
  return new Promise((resolve) => {
    const messages: string[] = []
    call.on('data', (message) => messages.push(message))
    // The status follows.
    call.on('error', () => undefined)
    call.on('status', (ended) => resolve(toCalled(messages, ended)))
  })
}

function toCalled(messages: string[], { code, details, metadata }: Ended): Called {
  return { messages, code, details, trailer: metadata.get('x-version').join() }
}
