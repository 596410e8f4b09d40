// A real client, psql or redis-cli, that is told one line at a time and whose answer is read back. It runs in
// the files of its image, as a process of the test: no engine can end it.
// redis-cli sends a command again by itself when its connection was lost. What it complains of ends it
// here, before anybody takes the second answer for the first.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { commandEnv, run } from '../../../src/base-images/command.ts'

export type Kind = 'postgres' | 'redis'

export interface LineClient {
  /** The first line of the answer. Rejects with what the client complains of, at its end, or in silence. */
  ask(line: string): Promise<string>
  close(): Promise<void>
}

const answerMs = 10_000
const programs = {
  postgres: ['/usr/lib/postgresql/15/bin/psql', '-XAtq', '-v', 'ON_ERROR_STOP=1'],
  redis: ['/usr/bin/redis-cli', '--no-auth-warning', '-u'],
} as const

/** Where the files of each kind's image were unpacked. */
export function rootOf(prepared: string, kind: Kind): string {
  return join(prepared, `${kind}-root`)
}

/** Whatever one command prints. */
export function runClient(prepared: string, kind: Kind, url: string, ...words: string[]): Promise<string> {
  const given = kind === 'postgres' ? words.flatMap((word) => ['-c', word]) : words
  return run('chroot', [rootOf(prepared, kind), ...programs[kind], url, ...given])
}

export function openLineClient(prepared: string, kind: Kind, url: string): LineClient {
  const child = spawn('chroot', [rootOf(prepared, kind), ...programs[kind], url], {
    env: { ...commandEnv, PGCONNECT_TIMEOUT: '5' },
  })
  const closed = once(child, 'close')
  // What is written to one that has ended is told by its end.
  child.stdin.on('error', () => undefined)
  const hear = answersOf(child)
  return {
    async ask(line) {
      const answer = hear()
      child.stdin.write(`${line}\n`)
      return answer
    },
    async close() {
      child.kill('SIGKILL')
      await closed
    },
  }
}

/** Gives the next answer, each time it is called. */
function answersOf(child: ChildProcessWithoutNullStreams): () => Promise<string> {
  let pending: { resolve(line: string): void; reject(error: Error): void } | null = null
  let trouble: Error | null = null
  const fail = (words: string) => {
    trouble ??= new Error(words)
    pending?.reject(trouble)
  }
  createInterface({ input: child.stdout }).on('line', (line) => pending?.resolve(line))
  createInterface({ input: child.stderr }).on('line', fail)
  child.once('close', (code) => fail(`the client ended with ${code}`))
  return () =>
    new Promise((resolve, reject) => {
      if (trouble) return reject(trouble)
      const silence = setTimeout(() => fail('no answer in time'), answerMs)
      const settle = (end: () => void) => {
        clearTimeout(silence)
        pending = null
        end()
      }
      pending = {
        resolve: (line) => settle(() => resolve(line)),
        reject: (error) => settle(() => reject(error)),
      }
    })
}
