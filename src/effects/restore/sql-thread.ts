// The lexer in a thread of its own: it takes about a second of CPU for 15 MiB, which the event loop does not
// have. This file is both sides: the daemon imports it, and the thread runs it.
// Mind: one piece is under way at a time, so that a slow reader of the result holds back the file.
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { SqlLexer } from './sql-lexer.ts'

const purpose = 'berth-sql-lexer'
const { url } = import.meta
/** From source, the thread needs a loader for TypeScript: it does not inherit that of the daemon. */
const loader = url.endsWith('.ts') ? import.meta.resolve('tsx/esm/api') : null
const start = `
  const { url, loader } = require('node:worker_threads').workerData
  const ready = loader === null ? Promise.resolve() : import(loader).then(({ register }) => register())
  ready.then(() => import(url))
`

/** A null piece is the end of the file. */
type Question = Uint8Array | null
type Answer = { sql: Uint8Array } | { failure: { code: string; message: string } }

export interface SqlThread {
  /** What goes on to psql. Throws `unsupported_dump` with the line. */
  push(piece: Uint8Array): Promise<Uint8Array>
  /** Throws `unsupported_dump` for a file that is cut. */
  end(): Promise<void>
  close(): Promise<void>
}

/** The abort of the signal ends the thread, also in the middle of a piece. */
export function openSqlThread(signal: AbortSignal): SqlThread {
  const worker = new Worker(start, { eval: true, workerData: { purpose, url, loader } })
  let ended: unknown = null
  let settle: (answer: Answer | null) => void = () => undefined
  const end = (reason: unknown) => {
    ended ??= signal.aborted ? signal.reason : reason
    settle(null)
  }
  worker.on('message', (answer: Answer) => settle(answer))
  worker.on('error', end).on('exit', () => end(new Error('the thread of the lexer has ended')))
  const close = async () => {
    signal.removeEventListener('abort', close)
    await worker.terminate()
  }
  signal.addEventListener('abort', close)
  const ask = async (question: Question): Promise<Uint8Array> => {
    const answered = new Promise<Answer | null>((resolve) => {
      settle = resolve
    })
    if (ended !== null) throw ended
    worker.postMessage(question, question ? [question.buffer as ArrayBuffer] : [])
    const answer = await answered
    if (answer === null) throw ended
    if ('failure' in answer) throw failureOf(answer.failure)
    return answer.sql
  }
  return {
    // A copy: the memory of the piece is its reader's.
    push: (piece) => ask(new Uint8Array(piece)),
    end: async () => void (await ask(null)),
    close,
  }
}

function failureOf({ code, message }: { code: string; message: string }): Error {
  return code === 'internal_error' ? new Error(message) : new Failure(code, message)
}

function runThread(): void {
  const lexer = new SqlLexer()
  parentPort!.on('message', (question: Question) => {
    try {
      const sql = joined(question ? lexer.push(Buffer.from(question.buffer)) : (lexer.end(), []))
      parentPort!.postMessage({ sql } satisfies Answer, [sql.buffer])
    } catch (error) {
      const failure = { code: codeOf(error), message: messageOf(error) }
      parentPort!.postMessage({ failure } satisfies Answer)
    }
  })
}

/** In memory of its own, which can be handed over. */
function joined(pieces: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

if (workerData?.purpose === purpose) runThread()
