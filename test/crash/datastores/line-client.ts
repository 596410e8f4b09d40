// A real psql or redis-cli that takes one line at a time. It runs from its image's files as a process of
// the test, so no engine can end it. redis-cli repeats a command after a lost connection, so any error
// output ends it here, before the second response could be taken for the first.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { commandEnv, run } from '../../support/system/command.ts'

export const kinds = ['postgres', 'redis'] as const
export type Kind = (typeof kinds)[number]

interface LineClient {
  /** The first line of the response. Rejects on error output, at the client's end, or on a timeout. */
  ask(line: string): Promise<string>
  close(): Promise<void>
}

const answerMs = 10_000
const programs = {
  postgres: ['/usr/lib/postgresql/15/bin/psql', '-XAtq', '-v', 'ON_ERROR_STOP=1'],
  redis: ['/usr/bin/redis-cli', '--no-auth-warning', '-u'],
} as const

/** The unpacked image files of each kind. */
export function rootOf(directory: string, kind: Kind): string {
  return join(directory, `${kind}-root`)
}

/** Returns the output of one command. */
export function runClient(directory: string, kind: Kind, url: string, ...words: string[]): Promise<string> {
  const clientArgs = kind === 'postgres' ? words.flatMap((word) => ['-c', word]) : words
  return run('chroot', [rootOf(directory, kind), ...programs[kind], url, ...clientArgs])
}

export function openLineClient(directory: string, kind: Kind, url: string): LineClient {
  const child = spawn('chroot', [rootOf(directory, kind), ...programs[kind], url], {
    env: { ...commandEnv, PGCONNECT_TIMEOUT: '5' },
  })
  const closed = once(child, 'close')
  // A write to an exited process fails; its exit is handled elsewhere.
  child.stdin.on('error', () => undefined)
  const hear = answersOf(child)
  return {
    async ask(line) {
      const response = hear()
      child.stdin.write(`${line}\n`)
      return response
    },
    async close() {
      child.kill('SIGKILL')
      await closed
    },
  }
}

/** Returns a function that reads the next response. */
function answersOf(child: ChildProcessWithoutNullStreams): () => Promise<string> {
  let pending: { resolve(line: string): void; reject(error: Error): void } | null = null
  let problem: Error | null = null
  const fail = (text: string) => {
    problem ??= new Error(text)
    pending?.reject(problem)
  }
  createInterface({ input: child.stdout }).on('line', (line) => pending?.resolve(line))
  createInterface({ input: child.stderr }).on('line', fail)
  child.once('close', (code) => fail(`the client ended with ${code}`))
  return async () => {
    if (problem) throw problem
    const silence = setTimeout(() => fail('timed out'), answerMs)
    try {
      return await new Promise<string>((resolve, reject) => {
        pending = { resolve, reject }
      })
    } finally {
      clearTimeout(silence)
      pending = null
    }
  }
}
