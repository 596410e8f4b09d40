// The lexer in a worker thread: 15 MiB take about one second of CPU, which would block the event loop.
// This file is both sides: the daemon imports it, and the thread runs it.
// Only one piece is in flight at a time, so a slow reader of the result applies back-pressure to the file.
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { SqlLexer } from './sql-lexer.ts'

const purpose = 'berth-sql-lexer'
const { url } = import.meta
/** From source, the thread needs a TypeScript loader: it does not inherit the daemon's loader. */
const loader = url.endsWith('.ts') ? import.meta.resolve('tsx/esm/api') : null
const start = `
  const { url, loader } = require('node:worker_threads').workerData
  const ready = loader === null ? Promise.resolve() : import(loader).then(({ register }) => register())
  ready.then(() => import(url))
`

/** A null piece is the end of the file. */
type Request = Uint8Array | null
type Response = { sql: Uint8Array } | { failure: { code: string; message: string } }

export interface SqlThread {
  /** Returns the text for psql. Throws `unsupported_dump` with the line. */
  push(piece: Uint8Array): Promise<Uint8Array>
  /** Throws `unsupported_dump` for a truncated file. */
  end(): Promise<void>
  close(): Promise<void>
}

/** Aborting the signal ends the thread, even in the middle of a piece. */
export function openSqlThread(signal: AbortSignal): SqlThread {
  const worker = new Worker(start, { eval: true, workerData: { purpose, url, loader } })
  let ended: unknown = null
  let settle: (answer: Response | null) => void = () => undefined
  const end = (reason: unknown) => {
    ended ??= signal.aborted ? signal.reason : reason
    settle(null)
  }
  worker.on('message', (response: Response) => settle(response))
  worker.on('error', end).on('exit', () => end(new Error('the thread of the lexer has ended')))
  const close = async () => {
    signal.removeEventListener('abort', close)
    await worker.terminate()
  }
  signal.addEventListener('abort', close)
  const ask = async (question: Request): Promise<Uint8Array> => {
    const answered = new Promise<Response | null>((resolve) => {
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
    // A copy: the reader owns the memory of the piece.
    push: (piece) => ask(new Uint8Array(piece)),
    end: async () => void (await ask(null)),
    close,
  }
}

function failureOf({ code, message }: { code: string; message: string }): Error {
  return code === 'internal_error' ? new Error(message) : new Failure(code, message)
}

function piecesOf(lexer: SqlLexer, question: Request) {
  if (question) return lexer.push(Buffer.from(question.buffer))
  lexer.end()
  return []
}

function runThread(): void {
  const lexer = new SqlLexer()
  parentPort!.on('message', (question: Request) => {
    try {
      const sql = joined(piecesOf(lexer, question))
      parentPort!.postMessage({ sql } satisfies Response, [sql.buffer])
    } catch (error) {
      const failure = { code: codeOf(error), message: messageOf(error) }
      parentPort!.postMessage({ failure } satisfies Response)
    }
  })
}

/** In a separate buffer, which can be transferred. */
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
