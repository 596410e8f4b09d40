// `npm run demo`: shows Berth from setup to a served page and its replacement. Removes everything at
// Ctrl-C, at the end with `--once`, and on failure.
import { setTimeout as delay } from 'node:timers/promises'
import { plain } from '../src/cli/terminal/output.ts'
import { describeMade, removeMade } from './demo/removal.ts'
import type { Made } from './demo/stage.ts'
import { printStory } from './demo/story.ts'
import { openTerminal, type Terminal } from './demo/terminal.ts'
import { type Trouble, toProblem } from './demo/trouble.ts'

const usage = `usage: npm run demo [-- --once]

Deploys an example app twice with a separate Berth server, and stays up until
Ctrl-C. Then it removes everything that it created.

  --once   exit at the end without waiting for Ctrl-C
  --help   show this help and exit

It needs a Docker engine (DOCKER_HOST, or the default socket) and git. On Debian
it installs and starts an engine when it runs as root and finds none.
`

const exitCodes = { ok: 0, failed: 1, usage: 2, interrupted: 130 }
// npm forwards signals that the terminal sends to the whole group, so one Ctrl-C arrives twice.
const samePressMs = 300
// The daemon receives it too, and its exit may be noticed before the signal.
const signalDelayMs = 200
/** The maximum lines of a reason: a daemon that fails to start prints its whole log. */
const maxLines = 8

async function main(args: string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(usage)
    return exitCodes.ok
  }
  const unknown = args.find((arg) => arg !== '--once')
  if (unknown !== undefined) {
    process.stderr.write(`npm run demo: unknown option ${plain(unknown)}\n\n${usage}`)
    return exitCodes.usage
  }
  return play({ isOnce: args.includes('--once') })
}

async function play(options: { isOnce: boolean }): Promise<number> {
  const terminal = openTerminal(process.stdout, process.env)
  const made: Made = { folder: null, daemon: null, pid: null }
  const signal = leaveOnSignals(made)
  const problems: Trouble[] = []
  const keepProblem = (error: unknown) =>
    void problems.push(toProblem(error, 'the demo failed', 'run it again'))
  let isShown = false
  try {
    await printStory({ terminal, signal, made }, options)
    isShown = true
  } catch (error) {
    await delay(signalDelayMs)
    if (!signal.aborted) keepProblem(error)
  }
  const lastOutput = problems.length > 0 ? await readStrip(made) : []
  if (signal.aborted && !isShown) terminal.print('\n Interrupted.')
  if (made.folder !== null) terminal.print()
  // Not abortable: a second press ends the process.
  await removeMade({ terminal, made, signal: new AbortController().signal }).catch(keepProblem)
  for (const problem of problems) complain(terminal, problem, lastOutput)
  if (problems.length > 0) return exitCodes.failed
  return isShown ? exitCodes.ok : exitCodes.interrupted
}

/** Aborts on the first signal, or when the output is closed. The second signal ends the process. */
function leaveOnSignals(made: Made): AbortSignal {
  const controller = new AbortController()
  let leftAt: number | null = null
  const leave = () => {
    if (leftAt !== null && Date.now() - leftAt < samePressMs) return
    if (leftAt !== null) abandon(made)
    leftAt = Date.now()
    controller.abort()
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, leave)
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => controller.abort())
  leaveWithNpm(controller)
  return controller.signal
}

function abandon(made: Made): never {
  try {
    if (made.pid !== null) process.kill(made.pid, 'SIGKILL')
  } catch {
    // The process has already exited.
  }
  process.stderr.write(`\n Not removed: ${describeMade(made)}\n`)
  process.exit(exitCodes.interrupted)
}

/** npm's shell forwards no signals: if only npm is killed, the demo would continue invisibly. */
function leaveWithNpm(controller: AbortController): void {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) controller.abort()
  }, 1_000).unref()
}

/** The daemon's last warnings, which are more informative than its exit. */
async function readStrip({ daemon }: Made): Promise<string[]> {
  const log = (await daemon?.catch(() => null))?.log ?? []
  return log.filter((line) => /"level":"(warn|error|fatal)"/.test(line)).slice(-3)
}

function complain(terminal: Terminal, { what, message, next }: Trouble, lastOutput: string[]): void {
  const paint = (style: 'bold' | 'dim', text: string) =>
    process.stderr.isTTY ? terminal.paint(style, text) : text
  const lines = (text: string) => text.trim().split('\n').slice(0, maxLines).map(plain).join('\n         ')
  const words = lastOutput.map((line) => `   ${paint('dim', 'daemon')} ${plain(line)}\n`).join('')
  process.stderr.write(`\n   ${paint('bold', `what  ${plain(what)}`)}\n`)
  process.stderr.write(`   why   ${lines(message)}\n   next  ${lines(next)}\n${words}`)
}

process.exit(await main(process.argv.slice(2)))
