// Asks for a secret at a terminal without showing it, or reads it from standard input.
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Failure } from './errors.ts'

/** Throws `interrupted`. */
export async function askSecret(input: NodeJS.ReadStream, question: string): Promise<string> {
  return typing(input, (ask) => ask(`${question}: `))
}

/** `check` throws for a secret that need not be typed again. Throws `interrupted` and `invalid_request`. */
export async function askTwice(
  input: NodeJS.ReadStream,
  what: string,
  check: (secret: string) => void,
): Promise<string> {
  return typing(input, async (ask) => {
    const secret = await ask(`New ${what}: `)
    check(secret)
    if (secret === (await ask('Again: '))) return secret
    throw new Failure('invalid_request', `the two ${what}s differ`)
  })
}

/** The first line of all that is written to standard input. */
export async function readLine(input: NodeJS.ReadStream): Promise<string> {
  return (await text(input)).split(/\r?\n/, 1)[0]!
}

async function typing<T>(
  input: NodeJS.ReadStream,
  use: (ask: (question: string) => Promise<string>) => Promise<T>,
): Promise<T> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input, output: nowhere, terminal: true, historySize: 0 })
  lines.once('SIGINT', () => lines.close())
  const typed = lines[Symbol.asyncIterator]()
  try {
    return await use(async (question) => {
      process.stderr.write(question)
      const { value, done } = await typed.next()
      process.stderr.write('\n')
      if (!done) return value
      throw new Failure('interrupted', 'interrupted: nothing was changed')
    })
  } finally {
    lines.close()
  }
}
