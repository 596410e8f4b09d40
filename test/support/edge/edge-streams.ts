// Long responses through the edge: an event stream, a WebSocket, a slow page.
// How each one ended is recorded for the test. `cut` means that the app did not end it.
import { once } from 'node:events'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Scope } from '../system/directory.ts'

export interface Followed {
  /** Events or messages received. */
  readonly said: readonly string[]
  /** Null while it is open; `goodbye` if the app ended it, otherwise `cut`. */
  readonly ending: 'goodbye' | 'cut' | null
  /** `Date.now()` at its end. */
  readonly endedAt: number | null
  /** Resolves after that many further messages, or at its end. */
  more(count?: number): Promise<void>
  /** Resolves at its end. */
  ended(): Promise<void>
  close(): void
}

interface Place {
  port: number
  host: string
}

const lookMs = 20

/** Resolves with the first event. A gap in the counts is a failure. */
export async function followEvents(t: Scope, { port, host }: Place): Promise<Followed> {
  const state = createState()
  const asking = request({ port, host: '127.0.0.1', path: '/events', headers: { host }, agent: false })
  t.after(() => asking.destroy())
  asking.once('error', () => state.end('cut'))
  asking.once('response', (response) => {
    let rest = ''
    response.on('data', (chunk: Buffer) => {
      const blocks = (rest + chunk.toString()).split('\n\n')
      rest = blocks.pop()!
      for (const block of blocks) state.said.push(block.startsWith('event: goodbye') ? 'goodbye' : block)
    })
    response.once('error', () => state.end('cut'))
    response.once('close', () => state.end(state.said.at(-1) === 'goodbye' ? 'goodbye' : 'cut'))
  })
  asking.end()
  await state.followed.more()
  return Object.assign(state.followed, { close: () => void asking.destroy() })
}

/** Resolves with the first message. */
export async function followSocket(t: Scope, { port, host }: Place): Promise<Followed> {
  const state = createState()
  const socket = new WebSocket(`ws://127.0.0.1:${port}/socket`, { headers: { host } })
  t.after(() => socket.terminate())
  socket.on('error', () => undefined)
  socket.on('message', (data) => state.said.push(String(data)))
  socket.on('close', (code) => state.end(code === 1001 ? 'goodbye' : 'cut'))
  await state.followed.more()
  return Object.assign(state.followed, { close: () => socket.terminate() })
}

interface Slow {
  /** The response body; rejects if the connection was cut. */
  answer: Promise<string>
}

/** Resolves with the first byte, when the response is in progress. */
export async function requestSlowly(t: Scope, { port, host }: Place, ms: number): Promise<Slow> {
  const path = `/slow?ms=${ms}`
  const asking = request({ port, host: '127.0.0.1', path, headers: { host }, agent: false })
  t.after(() => asking.destroy())
  asking.end()
  const [response] = await once(asking, 'response')
  const chunks: string[] = []
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => chunks.push(chunk))
  const answer = once(response, 'end').then(() => chunks.join(''))
  answer.catch(() => undefined)
  while (chunks.length === 0) await sleep(lookMs)
  return { answer }
}

function createState() {
  const said: string[] = []
  const over: { ending: Followed['ending']; endedAt: number | null } = { ending: null, endedAt: null }
  const followed = {
    said,
    get ending() {
      return over.ending
    },
    get endedAt() {
      return over.endedAt
    },
    async more(count = 1) {
      const wanted = said.length + count
      while (said.length < wanted && over.ending === null) await sleep(lookMs)
    },
    async ended() {
      while (over.ending === null) await sleep(lookMs)
    },
  }
  const end = (ending: Followed['ending']) => {
    if (over.ending === null) Object.assign(over, { ending, endedAt: Date.now() })
  }
  return { said, end, followed }
}
