// HAProxy's runtime socket: one command per connection, bounded, its answer as text.
// Mind: a refusal is text like any other answer; who sends a command says which answers are fine.
import { connect, type Socket } from 'node:net'
import { Failure } from '../errors.ts'

export interface Runtime {
  /** Throws `edge_unavailable` when nobody answers. */
  ask(command: string): Promise<string>
  /** Like `ask`, for what changes something. Throws `edge_refused` for any answer that is not expected. */
  change(command: string, expected?: RegExp): Promise<void>
  /** The lines of an answer that goes on for ever, until the other side ends or `signal` does. */
  lines(command: string, signal: AbortSignal): AsyncGenerator<string>
}

const answerMs = 5_000
/** What HAProxy says where it did what was asked. */
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
    socket.setTimeout(answerMs, () => socket.destroy(new Error('no answer in time')))
    // The master waits for more until it is told that there is none.
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
      const answer = await ask(command)
      if (answer.split('\n').every((line) => line === '' || fine.test(line) || expected.test(line))) return
      const [what = ''] = command.split('\n')
      throw new Failure('edge_refused', `HAProxy refused '${what}': ${answer.trim()}`)
    },
    async *lines(command, signal) {
      // An abort that was before reaches no listener.
      if (signal.aborted) return
      const socket = connect(path)
      const end = () => socket.destroy()
      signal.addEventListener('abort', end)
      socket.write(`${command}\n`)
      try {
        yield* linesOf(socket)
      } catch (error) {
        if (!signal.aborted) throw unavailable(error)
      } finally {
        signal.removeEventListener('abort', end)
        end()
      }
    },
  }
}

async function* linesOf(socket: Socket): AsyncGenerator<string> {
  let text = ''
  socket.setEncoding('utf8')
  for await (const chunk of socket as AsyncIterable<string>) {
    const lines = (text + chunk).split('\n')
    text = lines.pop()!
    yield* lines
  }
}

function unavailable(error: unknown): Failure {
  const reason = error instanceof Error ? error.message : String(error)
  return new Failure('edge_unavailable', `HAProxy does not answer: ${reason}`)
}
