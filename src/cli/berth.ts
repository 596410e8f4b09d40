// berth: reads the command, runs it, and ends with its exit code. Ctrl-C asks it to end, twice ends it.
import { CommanderError } from 'commander'
import { tellFailure } from './command.ts'
import { exitCodes } from './failure.ts'
import { createProgram } from './program.ts'
import { openOutput } from './terminal/output.ts'

/** What a command may take to say goodbye. */
const farewellMs = 3000

async function main(): Promise<void> {
  endQuietlyWithTheReader()
  if (process.argv.includes('--no-color')) forgoColours()
  const program = createProgram({
    env: process.env,
    signal: interruptSignal(),
    setExitCode: (code) => {
      process.exitCode = code
    },
  })
  const args = process.argv.slice(2)
  await program.parseAsync(args.length > 0 ? args : ['--help'], { from: 'user' })
}

// `berth services | head -1`: who reads has enough, which is no failure.
function endQuietlyWithTheReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(exitCodes.ok)
      throw error
    })
  }
}

// The way to tell it to the prompts as well, which look for themselves.
function forgoColours(): void {
  process.env.NO_COLOR = '1'
  delete process.env.FORCE_COLOR
}

function interruptSignal(): AbortSignal {
  const controller = new AbortController()
  process.on('SIGINT', () => {
    if (controller.signal.aborted) process.exit(exitCodes.interrupted)
    controller.abort()
    setTimeout(() => process.exit(exitCodes.interrupted), farewellMs).unref()
  })
  return controller.signal
}

main()
  .catch((error: unknown) => {
    if (error instanceof CommanderError && error.exitCode === 0) return
    const out = openOutput({ ...process, env: process.env, isJson: false })
    process.exitCode = tellFailure(out, error)
  })
  // A prompt or a kept connection must not hold the process when all is said.
  .finally(() => process.stdout.write('', () => process.exit()))
