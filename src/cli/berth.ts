// berth: runs the command. The first Ctrl-C requests an orderly end; the second ends the process.
import { exitCodes } from './failure.ts'
import { run } from './program.ts'

const exitGraceMs = 3000

async function main(): Promise<void> {
  exitQuietlyOnBrokenPipe()
  const { env, stdin, stdout, stderr } = process
  const args = process.argv.slice(2)
  process.exitCode = await run({
    args,
    env,
    cwd: process.cwd(),
    stdin,
    stdout,
    stderr,
    signal: interruptSignal(),
  })
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

function interruptSignal(): AbortSignal {
  const controller = new AbortController()
  process.on('SIGINT', () => {
    if (controller.signal.aborted) process.exit(exitCodes.interrupted)
    controller.abort()
    setTimeout(() => process.exit(exitCodes.interrupted), exitGraceMs).unref()
  })
  return controller.signal
}

// An open prompt or a keep-alive connection must not keep the process running after all output is written.
main().finally(() => process.stdout.write('', () => process.exit()))
