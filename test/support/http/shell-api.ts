// The API with a datastore called shop and fake clients.
import assert from 'node:assert/strict'
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { WebSocket } from 'ws'
import type { Shell, ShellEvents, ShellStart, Shells } from '../../../src/effects/shells.ts'
import { Failure } from '../../../src/errors.ts'
import type { Storage } from '../../../storage/index.ts'
import type { Body } from '../daemon/api.ts'
import { eventually, instant } from '../supervisor/supervision.ts'
import { type AccountApi, startWithAccount } from './account.ts'
import { token } from './http-context.ts'
import { checkAnswer } from './openapi.ts'

export const bearer = { authorization: `Bearer ${token}` }
/** The first message of a client. */
export const start = { type: 'start', words: [], terminal: null }
export const pathOf = (name: string) => `/api/v1/datastores/${name}/client`

interface ShellApi extends AccountApi {
  opened: FakeClient[]
  tryOpen(path: string, headers?: Record<string, string>): Promise<WsClient | Refusal>
  /** Fails if the connection is refused. */
  open(headers?: Record<string, string>): Promise<{ ws: WsClient; client: FakeClient }>
  /** Also sends `start`. */
  openStarted(): Promise<{ ws: WsClient; client: FakeClient }>
}

export async function openShellApi(
  t: TestContext,
  overrides: Parameters<typeof startWithAccount>[1] = {},
): Promise<ShellApi> {
  const { shells, opened } = openFakeClients()
  const api = await startWithAccount(t, { shells, ...overrides })
  await storeDatastore(api.storage, 'shop')
  const tryOpen: ShellApi['tryOpen'] = (path, headers = bearer) => tryConnecting(t, api.url, path, headers)
  const open: ShellApi['open'] = async (headers) => {
    const ws = await tryOpen(pathOf('shop'), headers)
    assert.ok('socket' in ws, `refused: ${ws}`)
    return { ws, client: opened.at(-1)! }
  }
  const openStarted: ShellApi['openStarted'] = async () => {
    const session = await open()
    session.ws.send(start)
    await eventually('the start', () => session.client.start)
    return session
  }
  return { ...api, opened, tryOpen, open, openStarted }
}

/** Stores only the record. */
export async function storeDatastore(storage: Storage, name: string, fields: object = {}): Promise<string> {
  const id = storage.ids.newId('dst')
  const record = { id, name, kind: 'postgres', status: 'available', error: null, phase: null, ...fields }
  const row = { id, kind: 'datastore', service_id: id, version: 1, revision: 1, snapshot: {}, restarts: 0 }
  const entry = {
    at: instant,
    event: 'test',
    state: record.status,
    status: record.status,
    phase: null,
    by: null,
  }
  const stored = { row: { ...row, final: false, parked: null }, record, entry, service: null, event: null }
  await storage.actors.create(stored, () => storage.datastores.insert(id, name, 'secret'))
  return id
}

interface FakeClient {
  start: ShellStart | null
  events: ShellEvents | null
  /** Calls other than `start` and `write`, in order. */
  calls: string[]
  /** `take` confirms the oldest unconfirmed write. */
  input: Buffer[]
  take(): void
  isClosed: boolean
}

/** Allows `most` concurrent clients. */
function openFakeClients(most = 4): { shells: Shells; opened: FakeClient[] } {
  const opened: FakeClient[] = []
  const open = (): Shell => {
    if (opened.filter(({ isClosed }) => !isClosed).length >= most)
      throw new Failure('unavailable', 'all open')
    const taken: (() => void)[] = []
    const take = () => taken.shift()?.()
    const client: FakeClient = { start: null, events: null, calls: [], input: [], take, isClosed: false }
    opened.push(client)
    const record = (call: string) => void client.calls.push(call)
    return {
      async start(start, events) {
        Object.assign(client, { start, events })
      },
      write(bytes, done) {
        client.input.push(bytes)
        taken.push(done)
      },
      end: () => record('end'),
      resize: ({ columns, rows }) => record(`resize ${columns} ${rows}`),
      pause: () => record('pause'),
      resume: () => record('resume'),
      close() {
        client.isClosed = true
      },
    }
  }
  return { shells: { open }, opened }
}

export interface WsClient {
  socket: WebSocket
  /** Parsed messages, and bytes as `channel:text`. */
  received: (Body | string)[]
  send(message: object): void
  /** Resolves with the close code. */
  closed(): Promise<number>
  receives(what: string, fits: (received: WsClient['received']) => boolean): Promise<void>
}

type Refusal = [status: number, code: string]

/** Checks a refusal against the OpenAPI document. */
async function tryConnecting(
  t: TestContext,
  url: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<WsClient | Refusal> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers })
  t.after(() => socket.terminate())
  const closing = new Promise<number>((resolve) => socket.once('close', resolve))
  const received: WsClient['received'] = []
  socket.on('message', (data, isBinary) => {
    const bytes = data as Buffer
    received.push(isBinary ? `${bytes[0]}:${bytes.subarray(1)}` : JSON.parse(String(data)))
  })
  socket.on('error', () => {})
  const refused = new Promise<Refusal>((resolve) => {
    socket.once('unexpected-response', (_, response: IncomingMessage) => {
      void text(response).then((words) => resolve(refusalOf(path, response.statusCode!, JSON.parse(words))))
    })
  })
  const opened = new Promise<null>((resolve) => socket.once('open', () => resolve(null)))
  const refusal = await Promise.race([opened, refused])
  if (refusal) return refusal
  return {
    socket,
    received,
    send: (message) => socket.send(JSON.stringify(message)),
    closed: () => closing,
    receives: async (what, fits) => void (await eventually(what, () => fits(received))),
  }
}

function refusalOf(path: string, status: number, body: Body): Refusal {
  checkAnswer('GET', path, status, body)
  if (body.title !== STATUS_CODES[status]) throw new Error(`the title of ${status} is ${body.title}`)
  return [status, body.code]
}
