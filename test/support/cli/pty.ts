// The command line at a pseudo-terminal, by `script` of bsdutils, which every Debian has.
// Input passes the terminal's line discipline, so \x03 is a real Ctrl-C.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stripVTControlCharacters } from 'node:util'
import { type Scope, temporaryDirectory } from '../system/directory.ts'
import { type BerthOptions, berthEnv, untilShown } from './berth.ts'
import { toScreen } from './screen.ts'
import { berthCommand } from './spawned.ts'

export interface Terminal {
  /** All output with its control sequences. */
  readonly written: string
  /** The lines on the screen now. */
  screen(): string[]
  type(keys: string): void
  /** Waits until this text has appeared in the output. */
  shows(text: string | RegExp): Promise<void>
  /** SIGKILL for the terminal itself, so that its processes receive SIGHUP. */
  kill(): void
  /** The exit code. */
  ended(): Promise<number | null>
}

export interface TerminalOptions extends Omit<BerthOptions, 'input'> {
  /** 80 by default. */
  columns?: number
  /** A shell command to run afterwards at the same terminal. */
  afterwards?: string
}

export const keys = { interrupt: '\x03', enter: '\r', down: '\x1b[B', up: '\x1b[A' }

/** Runs `berth` with these arguments at its own terminal; ended after the test. */
export function openTerminal(t: Scope, args: string[], options: TerminalOptions = {}): Terminal {
  const command = [process.execPath, ...berthCommand, ...args].map(quote).join(' ')
  const run = options.afterwards === undefined ? `exec ${command}` : `${command}; ${options.afterwards}`
  return openShell(t, run, options)
}

/** Runs a shell command at its own terminal, in the environment of a user of `berth`. */
export function openShell(
  t: Scope,
  run: string,
  options: Omit<TerminalOptions, 'afterwards'> = {},
): Terminal {
  const columns = options.columns ?? 80
  const child = spawn(
    'script',
    ['--quiet', '--return', '--command', `stty cols ${columns} rows 40; ${run}`, '/dev/null'],
    {
      cwd: options.cwd ?? temporaryDirectory(t),
      env: { ...berthEnv(t, options), SHELL: '/bin/sh', TERM: 'xterm-256color' },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  t.after(() => child.kill('SIGKILL'))
  let written = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text
  })
  child.stdin.on('error', () => {})
  const closed = once(child, 'close')
  return {
    get written() {
      return written
    },
    screen: () => toScreen(written, columns),
    type: (text) => void child.stdin.write(text),
    async shows(text) {
      const shown = () => stripVTControlCharacters(written)
      await untilShown(text, `the terminal of ${run}`, shown).catch((error: Error) => {
        throw new Error(`${error.message}\n${toScreen(written, columns).join('\n')}`)
      })
    },
    kill: () => void child.kill('SIGKILL'),
    async ended() {
      await closed
      return child.exitCode
    },
  }
}

/** Quotes a word for a shell. */
export function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
