// Answers through the edge that go on: an event stream, a WebSocket, a slow page.
// How it ended is kept and judged by the test. `cut` is an end that the app did not mean.
import { once } from 'node:events'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Scope } from './directory.ts'

export interface Followed {
  /** What was said, event by event or message by message. */
  readonly said: readonly string[]
  /** null while it is open; `goodbye` where the app ended it, `cut` where somebody else did. */
  readonly ending: 'goodbye' | 'cut' | null
  /** `Date.now()` of its end. */
  readonly endedAt: number | null
  /** Resolves when it has said that many things more, or ended. */
  more(count?: number): Promise<void>
  /** Resolves when it has ended. */
  ended(): Promise<void>
  close(): void
}

interface Place {
  port: number
  host: string
}

const lookMs = 20

/** Resolves when the first event is there. Counts that leave one out are a failure. */
export async function followEvents(t: Scope, { port, host }: Place): Promise<Followed> {
  const state = createState()
  const asking = request({ port, host: '127.0.0.1', path: '/events', headers: { host }, agent: false })
  t.after(() => asking.destroy())
  asking.once('error', () => state.end('cut'))
  asking.once('response', (answer) => {
    let rest = ''
    answer.on('data', (chunk: Buffer) => {
      const blocks = (rest + chunk.toString()).split('\n\n')
      rest = blocks.pop()!
      for (const block of blocks) state.said.push(block.startsWith('event: goodbye') ? 'goodbye' : block)
    })
    answer.once('error', () => state.end('cut'))
    answer.once('close', () => state.end(state.said.at(-1) === 'goodbye' ? 'goodbye' : 'cut'))
  })
  asking.end()
  await state.followed.more()
  return Object.assign(state.followed, { close: () => void asking.destroy() })
}

/** Resolves when the first message is there. */
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

export interface Slow {
  /** What it answered; rejects when it was cut. */
  answer: Promise<string>
}

/** Resolves with the first byte: from then on it is under way. */
export async function askSlowly(t: Scope, { port, host }: Place, ms: number): Promise<Slow> {
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
