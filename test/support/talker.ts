// The WebSocket of a datastore's client as a program would speak it, and clients that only say what they were
// asked. Ends with its test.
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { WebSocket } from 'ws'
import type { Client, ClientEvents, ClientStart, Clients } from '../../src/effects/datastore/clients.ts'
import { Failure } from '../../src/errors.ts'
import type { Storage } from '../../storage/index.ts'
import type { Body } from './api.ts'
import { checkAnswer } from './openapi.ts'
import { eventually, instant } from './supervised.ts'

/** Stored as it is when its actor has come as far as this; nothing runs. */
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

export interface Spoken {
  start: ClientStart | null
  events: ClientEvents | null
  /** What was asked of it, in order. */
  asked: string[]
  /** What came in; `take` says that the oldest one has been taken. */
  input: Buffer[]
  take(): void
  isClosed: boolean
}

/** As many as `most` at a time. */
export function openFakeClients(most = 4): { clients: Clients; spoken: Spoken[] } {
  const spoken: Spoken[] = []
  const open = (): Client => {
    if (spoken.filter(({ isClosed }) => !isClosed).length >= most)
      throw new Failure('unavailable', 'all open')
    const taken: (() => void)[] = []
    const take = () => taken.shift()?.()
    const one: Spoken = { start: null, events: null, asked: [], input: [], take, isClosed: false }
    spoken.push(one)
    const ask = (words: string) => void one.asked.push(words)
    return {
      async start(start, events) {
        Object.assign(one, { start, events })
      },
      write(bytes, done) {
        one.input.push(bytes)
        taken.push(done)
      },
      end: () => ask('end'),
      resize: ({ columns, rows }) => ask(`resize ${columns} ${rows}`),
      pause: () => ask('pause'),
      resume: () => ask('resume'),
      close() {
        one.isClosed = true
      },
    }
  }
  return { clients: { open }, spoken }
}

export interface Talker {
  socket: WebSocket
  /** What came: messages parsed, bytes as `channel:text`. */
  heard: (Body | string)[]
  say(message: object): void
  /** Resolves with the code of its close. */
  closed(): Promise<number>
  hears(what: string, fits: (heard: Talker['heard']) => boolean): Promise<void>
}

export type Refusal = [status: number, code: string]

/** A refusal is held against the OpenAPI document. */
export async function tryTalking(
  t: TestContext,
  url: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<Talker | Refusal> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers })
  t.after(() => socket.terminate())
  const closing = new Promise<number>((resolve) => socket.once('close', resolve))
  const heard: Talker['heard'] = []
  socket.on('message', (data, isBinary) => {
    const bytes = data as Buffer
    heard.push(isBinary ? `${bytes[0]}:${bytes.subarray(1)}` : JSON.parse(String(data)))
  })
  socket.on('error', () => {})
  const refused = new Promise<Refusal>((resolve) => {
    socket.once('unexpected-response', (_, answer: IncomingMessage) => {
      void text(answer).then((words) => resolve(refusalOf(path, answer.statusCode!, JSON.parse(words))))
    })
  })
  const opened = new Promise<null>((resolve) => socket.once('open', () => resolve(null)))
  const refusal = await Promise.race([opened, refused])
  if (refusal) return refusal
  return {
    socket,
    heard,
    say: (message) => socket.send(JSON.stringify(message)),
    closed: () => closing,
    hears: async (what, fits) => void (await eventually(what, () => fits(heard))),
  }
}

function refusalOf(path: string, status: number, body: Body): Refusal {
  checkAnswer('GET', path, status, body)
  if (body.title !== STATUS_CODES[status]) throw new Error(`the title of ${status} is ${body.title}`)
  return [status, body.code]
}
