// Runs `berth` visibly at this terminal: prints the command, then its own output.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Stage } from './stage.ts'
import { Trouble } from './trouble.ts'

export interface Typed {
  args: string[]
  /** The configuration directory, separate from the user's. */
  configFolder: string
  /** Called for each output line; piped output is not animated. */
  hear?: (line: string) => void
}

const home = fileURLToPath(new URL('../..', import.meta.url))
const program = ['--import', 'tsx', 'src/cli/main.ts']
// The terminal also sends Ctrl-C to it, so it exits in order.
const ownEndMs = 500

/** Throws `Trouble` on failure, and the signal's reason on an interrupt. */
export async function typeBerth({ terminal, signal }: Stage, typed: Typed): Promise<void> {
  const { args, configFolder, hear } = typed
  signal.throwIfAborted()
  terminal.print(`   ${terminal.paint('dim', '$')} ${terminal.paint('bold', `berth ${args.join(' ')}`)}`)
  terminal.print()
  const child = spawn(process.execPath, [...program, ...args], {
    cwd: home,
    stdio: ['ignore', 'inherit', hear ? 'pipe' : 'inherit'],
    env: { ...process.env, XDG_CONFIG_HOME: configFolder, XDG_STATE_HOME: configFolder },
  })
  if (hear) {
    createInterface({ input: child.stderr! }).on('line', (line) => {
      process.stderr.write(`${line}\n`)
      hear(line)
    })
  }
  const end = () => void delay(ownEndMs, null, { ref: false }).then(() => child.kill('SIGKILL'))
  signal.addEventListener('abort', end)
  const [code] = await once(child, 'close')
  signal.removeEventListener('abort', end)
  signal.throwIfAborted()
  if (code === 0) return
  throw new Trouble(
    `berth ${args[0]} failed`,
    `it exited with code ${code}`,
    'see the lines above for the reason',
  )
}
