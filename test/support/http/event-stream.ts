// Reads an event stream like a browser, one event at a time. Closed after the test.
import type { TestContext } from 'node:test'
import { token } from './http-context.ts'

interface ServerEvent {
  id: string | null
  event: string
  data: string
}

export interface Reader {
  response: Response
  /** The next event; null at the end of the stream. Skips comments. */
  next(): Promise<ServerEvent | null>
  /** All events up to the end of the stream. */
  rest(): Promise<ServerEvent[]>
  close(): void
}

export async function openStream(
  t: TestContext,
  url: string,
  headers: Record<string, string> = {},
): Promise<Reader> {
  const controller = new AbortController()
  t.after(() => controller.abort())
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: controller.signal,
  })
  const events = eventsOf(response)
  const next = async () => (await events.next()).value ?? null
  return {
    response,
    next,
    async rest() {
      const all: ServerEvent[] = []
      for (let event = await next(); event; event = await next()) all.push(event)
      return all
    },
    close: () => controller.abort(),
  }
}

async function* eventsOf(response: Response): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body!) {
    text += decoder.decode(chunk, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop()!
    for (const block of blocks) {
      const event = parseBlock(block)
      if (event) yield event
    }
  }
}

/** Null for a comment or an event without a data line, which a browser does not dispatch either. */
function parseBlock(block: string): ServerEvent | null {
  const fields = block.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line))
  const fieldOf = (name: string) => fields.find((field) => field?.[1] === name)?.[2] ?? null
  const data = fieldOf('data')
  return data === null ? null : { id: fieldOf('id'), event: fieldOf('event') ?? 'message', data }
}
