// berth: parses and runs the command, and exits with its exit code. The first Ctrl-C requests an orderly end;
// the second ends the process.
import { CommanderError } from 'commander'
import { printFailure } from './command.ts'
import { exitCodes } from './failure.ts'
import { createProgram } from './program.ts'
import { openOutput } from './terminal/output.ts'

/** Time limit for a command to finish after Ctrl-C. */
const exitGraceMs = 3000

async function main(): Promise<void> {
  exitQuietlyOnBrokenPipe()
  if (process.argv.includes('--no-color')) disableColours()
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

// `berth services | head -1`: a reader that closes the pipe early is not a failure.
function exitQuietlyOnBrokenPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(exitCodes.ok)
      throw error
    })
  }
}

// Sets the variable that the prompt library reads.
function disableColours(): void {
  process.env.NO_COLOR = '1'
  delete process.env.FORCE_COLOR
}

function interruptSignal(): AbortSignal {
  const controller = new AbortController()
  process.on('SIGINT', () => {
    if (controller.signal.aborted) process.exit(exitCodes.interrupted)
    controller.abort()
    setTimeout(() => process.exit(exitCodes.interrupted), exitGraceMs).unref()
  })
  return controller.signal
}

main()
  .catch((error: unknown) => {
    if (error instanceof CommanderError && error.exitCode === 0) return
    const out = openOutput({ ...process, env: process.env, isJson: false })
    process.exitCode = printFailure(out, error)
  })
  // An open prompt or a keep-alive connection must not keep the process running after all output is written.
  .finally(() => process.stdout.write('', () => process.exit()))
