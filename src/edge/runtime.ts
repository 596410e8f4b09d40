// HAProxy's runtime socket: one command per connection, with limits, and its response as text. An error is
// text like any other response, so the caller decides which responses are expected.
import { connect, type Socket } from 'node:net'
import { sleep } from '../async/sleep.ts'
import { Failure } from '../errors.ts'

export interface Runtime {
  /** Throws `edge_unavailable` without a response. */
  ask(command: string): Promise<string>
  /** Like `ask`, for commands that change something. Throws `edge_refused` for an unexpected response. */
  change(command: string, expected?: RegExp): Promise<void>
  /** An endless response, until the other side closes or `signal` is aborted. Yields batches of lines. */
  lines(command: string, signal: AbortSignal): AsyncGenerator<string[]>
}

const answerMs = 5_000
/** The batch size in characters: a full batch means that there is more. */
const manyAtOnce = 32 * 1024
/** The pause between two readings. */
export const restMs = 250
/** The responses of HAProxy to successful commands. */
const fine = new RegExp(
  [
    '^\\s*$',
    'no need to change',
    'changed (from|through)',
    'New server registered',
    'New empty certificate store',
    'Transaction (created|updated)',
    'Success!',
  ].join('|'),
)

export function openRuntime(path: string): Runtime {
  async function ask(command: string): Promise<string> {
    const socket = connect(path)
    socket.setTimeout(answerMs, () => socket.destroy(new Error('no response in time')))
    // The master waits for more commands until the sending side is closed.
    socket.end(`${command}\n`)
    try {
      const chunks: Buffer[] = []
      for await (const chunk of socket) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks).toString()
    } catch (error) {
      throw unavailable(error)
    }
  }

  return {
    ask,
    async change(command, expected = fine) {
      const response = await ask(command)
      if (response.split('\n').every((line) => line === '' || fine.test(line) || expected.test(line))) return
      const [what = ''] = command.split('\n')
      throw new Failure('edge_refused', `HAProxy refused '${what}': ${response.trim()}`)
    },
    async *lines(command, signal) {
      // An earlier abort does not call the listener.
      if (signal.aborted) return
      const socket = connect(path)
      const end = () => socket.destroy()
      signal.addEventListener('abort', end)
      socket.write(`${command}\n`)
      try {
        yield* linesOf(socket, signal)
      } catch (error) {
        if (!signal.aborted) throw unavailable(error)
      } finally {
        signal.removeEventListener('abort', end)
        end()
      }
    },
  }
}

/** To a reader that is up to date HAProxy sends each line alone, which costs more than the line itself. */
async function* linesOf(socket: Socket, signal: AbortSignal): AsyncGenerator<string[]> {
  let text = ''
  socket.setEncoding('utf8')
  for await (const chunk of socket as AsyncIterable<string>) {
    const lines = (text + chunk).split('\n')
    text = lines.pop()!
    yield lines
    if (chunk.length < manyAtOnce) await sleep(restMs, signal).catch(() => undefined)
  }
}

function unavailable(error: unknown): Failure {
  const reason = error instanceof Error ? error.message : String(error)
  return new Failure('edge_unavailable', `HAProxy does not respond: ${reason}`)
}
