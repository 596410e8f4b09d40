// An interactive command inside a container, at a terminal or through pipes. The engine has no call that
// ends an exec, and an exec outlives its connection. Measured with Docker 20.10: a terminal gets no SIGHUP
// and pipes give no SIGPIPE, because the engine keeps reading the output. Pipes only reach the end of
// their input, which psql does not notice in the middle of a query. A second exec, the lifeline, therefore
// waits for the end of its own input and then ends the command. The lifeline's input also ends when berthd
// is killed.
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Container, Exec } from 'dockerode'
import { Failure } from '../../errors.ts'
import { type EngineScope, findOwn } from '../containers/find-container.ts'
import { toFailure } from '../engine/client.ts'
import { createFrameSplitter, type OutputStream } from './command-output.ts'
import { type Command, readExitCode } from './exec.ts'

export interface TerminalSize {
  columns: number
  rows: number
}

export interface InteractiveOptions {
  /** `name` is the value of TERM; null for pipes. */
  terminal: ({ name: string } & TerminalSize) | null
  /** A terminal has `stdout` only. */
  wrote(stream: OutputStream, bytes: Buffer): void
  /** Called once, after all output; not after `close`. */
  ended(exitCode: number): void
  /** Instead of `ended`: `docker_error`, `docker_unavailable`. */
  failed(error: unknown): void
}

export interface InteractiveExec {
  /** Calls `taken` once the bytes have been written to the engine's connection. */
  write(bytes: Buffer, taken: () => void): void
  /** Ends the input. Does nothing at a terminal, where Ctrl-D does it. */
  end(): void
  /** Does nothing without a terminal. */
  resize(size: TerminalSize): void
  /** No output is read until `resume`; the command waits when the engine's buffers are full. */
  pause(): void
  resume(): void
  /** Returns immediately. The lifeline cancels a running query and ends the command. */
  close(): void
}

const mark = 'BERTH_CLIENT'
const inspectMs = 30_000

// SIGINT cancels the query, SIGHUP ends a client, SIGKILL what ignores both. Children inherit the mark.
// Each round searches again, because a command may start after the first one.
const lifelineScript = `echo up
cat > /dev/null
for signal in INT HUP KILL; do
  for process in /proc/[0-9]*; do
    grep -qs "${mark}=$1" "$process/environ" && kill -s $signal "\${process#/proc/}"
  done
  sleep 1
done`

// When memory is short, the kernel must kill the client and not the database server in the same container.
// Older engines cannot set the size of a terminal before its program reads it.
const startScript = `echo 1000 > /proc/self/oom_score_adj
[ "$1" ] && stty rows "$1" cols "$2" 2> /dev/null
shift 2
exec "$@"`

/** Throws `docker_error` when the container does not run, `docker_unavailable`. */
export async function openInteractive(
  scope: EngineScope,
  name: string,
  command: Command,
  options: InteractiveOptions,
): Promise<InteractiveExec> {
  const container = await findOwn(scope, name)
  if (!container) throw new Failure('docker_error', `there is no container ${name}`)
  const id = randomUUID()
  const lifeline = await openLifeline(scope, container.container, id)
  try {
    const { argv, env } = prepared(command, options.terminal)
    const marked = { argv, env: { ...env, [mark]: id } }
    const started = await start(scope, container.container, marked, options.terminal !== null)
    return attach(scope, { ...started, lifeline }, options)
  } catch (error) {
    lifeline.destroy()
    throw error
  }
}

function prepared({ argv, env }: Command, terminal: InteractiveOptions['terminal']): Command {
  const size = terminal ? [String(terminal.rows), String(terminal.columns)] : ['', '']
  return {
    argv: ['sh', '-c', startScript, 'client', ...size, ...argv],
    env: { ...env, ...(terminal ? { TERM: terminal.name } : {}) },
  }
}

interface Started {
  exec: Exec
  stream: Socket
}

async function start(
  scope: EngineScope,
  container: Container,
  { argv, env = {} }: Command,
  isTerminal: boolean,
) {
  return scope.engine.call(`run ${argv[0]}`, async (abortSignal): Promise<Started> => {
    const exec = await container.exec({
      Cmd: argv,
      Env: Object.entries(env).map(([key, value]) => `${key}=${value}`),
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
      Tty: isTerminal,
      abortSignal,
    })
    const stream = await exec.start({ hijack: true, stdin: true, Tty: isTerminal, abortSignal })
    return { exec, stream: stream as Socket }
  })
}

/** Resolves when the script runs: a command must not start before something can end it. */
async function openLifeline(scope: EngineScope, container: Container, id: string): Promise<Socket> {
  const argv = ['sh', '-c', lifelineScript, 'lifeline', id]
  const { stream } = await start(scope, container, { argv }, false)
  return scope.engine.call('start a lifeline', (abortSignal) => untilUp(stream, abortSignal))
}

function untilUp(stream: Socket, abortSignal: AbortSignal): Promise<Socket> {
  abortSignal.addEventListener('abort', () => stream.destroy())
  return new Promise((resolve, reject) => {
    let output = ''
    stream.on('error', reject)
    stream.on('close', () => {
      const hasNoShell = /exec: "sh":/.test(output)
      const reason = hasNoShell ? 'its image has no shell' : `the lifeline did not start: ${output}`
      reject(new Failure('docker_error', reason))
    })
    stream.on('data', (chunk: Buffer) => {
      output += chunk.subarray(8).toString('utf8').trim()
      if (output === 'up') resolve(stream)
    })
  })
}

function attach(
  scope: EngineScope,
  { exec, stream, lifeline }: Started & { lifeline: Socket },
  { terminal, wrote, ended, failed }: InteractiveOptions,
): InteractiveExec {
  let isClosed = false
  let failure: unknown = null
  stream.on('data', terminal ? (bytes: Buffer) => wrote('stdout', bytes) : createFrameSplitter(wrote))
  stream.on('error', (error) => {
    failure = toFailure('run an interactive command', error)
  })
  stream.once('close', () => {
    lifeline.destroy()
    if (isClosed) return
    const exit = failure ? Promise.reject(failure) : exitOf(scope, exec)
    exit.then(
      (exitCode) => isClosed || ended(exitCode),
      (error: unknown) => isClosed || failed(error),
    )
  })
  const resizer = createResizer(scope, exec)
  return {
    write: (bytes, taken) => void stream.write(bytes, (error) => error || taken()),
    end: () => void (terminal || stream.end()),
    resize: (size) => terminal && resizer.resize(size),
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    close() {
      isClosed = true
      stream.destroy()
    },
  }
}

function exitOf({ engine }: EngineScope, exec: Exec): Promise<number> {
  const inspect = (abortSignal: AbortSignal) => readExitCode(exec, abortSignal)
  return engine.call('inspect a command', inspect, { timeoutMs: inspectMs })
}

/** One request at a time, always with the newest size. A failure is ignored: only the layout suffers. */
function createResizer({ engine }: EngineScope, exec: Exec) {
  let pendingSize: TerminalSize | null = null
  let isBusy = false

  async function apply(): Promise<void> {
    isBusy = true
    while (pendingSize) {
      const size = { w: pendingSize.columns, h: pendingSize.rows }
      pendingSize = null
      const change = (abortSignal: AbortSignal) => exec.resize({ ...size, abortSignal })
      await engine.call('resize a terminal', change).catch(() => undefined)
    }
    isBusy = false
  }

  return {
    resize(size: TerminalSize): void {
      pendingSize = size
      if (!isBusy) void apply()
    },
  }
}
