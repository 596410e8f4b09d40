// A command inside a container that somebody talks to, at a terminal or through pipes.
// Mind: the engine cannot end a command, and keeps its terminal open when nobody reads it any more. A second
// command, its lifeline, waits for the end of our input, also when we are killed, and ends the first.
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Container, Exec } from 'dockerode'
import { Failure } from '../errors.ts'
import { toFailure } from './client.ts'
import { type Command, exitCodeOf } from './exec.ts'
import { findOwn, type Site } from './instance-container.ts'
import { createFrameSplitter, type OutputStream } from './output-frames.ts'

export interface TerminalSize {
  columns: number
  rows: number
}

export interface InteractiveOptions {
  /** What it is called in the database of terminals, and its size; null for pipes. */
  terminal: ({ name: string } & TerminalSize) | null
  /** At a terminal all is `stdout`. */
  wrote(stream: OutputStream, bytes: Buffer): void
  /** Once, after all it wrote; not after `close`. */
  ended(exitCode: number): void
  /** Instead of `ended`: `docker_error`, `docker_unavailable`. */
  failed(error: unknown): void
}

export interface InteractiveExec {
  /** `taken` is called when the engine has the bytes. */
  write(bytes: Buffer, taken: () => void): void
  /** Its input is at its end. A terminal has no such thing: it is told by a key. */
  end(): void
  /** Does nothing without a terminal. */
  resize(size: TerminalSize): void
  /** Until `resume` nothing is read of what it writes. */
  pause(): void
  resume(): void
  /** Ends it, whatever it does, and cancels the query it waits for; at once as far as we are concerned. */
  close(): void
}

const mark = 'BERTH_CLIENT'
const inspectMs = 30_000

/** A client is told to cancel, then to go, then it is ended: with all it started itself. */
const lifelineScript = `echo up
cat > /dev/null
for signal in INT HUP KILL; do
  found=
  for each in /proc/[0-9]*; do
    if grep -qs "${mark}=$1" "$each/environ"; then found="$found \${each#/proc/}"; fi
  done
  [ "$found" ] || exit 0
  kill -s $signal $found
  sleep 1
done`

/**
 * Where memory is short the kernel is to end the client, not the server beside it. And older engines cannot
 * give a terminal its size before its program asks for it, to page what is short.
 */
const startScript = `echo 1000 > /proc/self/oom_score_adj
[ "$1" ] && stty rows "$1" cols "$2" 2> /dev/null
shift 2
exec "$@"`

/** Throws `docker_error` when the container does not run, `docker_unavailable`. */
export async function openInteractive(
  site: Site,
  name: string,
  command: Command,
  options: InteractiveOptions,
): Promise<InteractiveExec> {
  const found = await findOwn(site, name)
  if (!found) throw new Failure('docker_error', `there is no container ${name}`)
  const id = randomUUID()
  const lifeline = await openLifeline(site, found.container, id)
  try {
    const { argv, env } = prepared(command, options.terminal)
    const marked = { argv, env: { ...env, [mark]: id } }
    const started = await start(site, found.container, marked, options.terminal !== null)
    return converse(site, { ...started, lifeline }, options)
  } catch (error) {
    lifeline.end()
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

async function start(site: Site, container: Container, { argv, env = {} }: Command, isTerminal: boolean) {
  return site.engine.call(`run ${argv[0]}`, async (abortSignal): Promise<Started> => {
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

/** Resolves when it listens: before that it could not end anything. */
async function openLifeline(site: Site, container: Container, id: string): Promise<Socket> {
  const argv = ['sh', '-c', lifelineScript, 'lifeline', id]
  const { stream } = await start(site, container, { argv }, false)
  return site.engine.call('wait for a lifeline', (abortSignal) => untilUp(stream, abortSignal))
}

function untilUp(stream: Socket, abortSignal: AbortSignal): Promise<Socket> {
  abortSignal.addEventListener('abort', () => stream.destroy())
  return new Promise((resolve, reject) => {
    let said = ''
    stream.on('error', reject)
    stream.on('close', () => reject(new Failure('docker_error', `no client can be ended there: ${said}`)))
    stream.on('data', (chunk: Buffer) => {
      said += chunk.subarray(8).toString('utf8').trim()
      if (said === 'up') resolve(stream)
    })
  })
}

function converse(
  site: Site,
  { exec, stream, lifeline }: Started & { lifeline: Socket },
  { terminal, wrote, ended, failed }: InteractiveOptions,
): InteractiveExec {
  let isClosed = false
  let failure: unknown = null
  const tell = (words: () => void) => {
    if (!isClosed) words()
    isClosed = true
  }
  stream.on('data', terminal ? (bytes: Buffer) => wrote('stdout', bytes) : createFrameSplitter(wrote))
  stream.on('error', (error) => {
    failure = toFailure('talk to a command', error)
  })
  stream.once('close', () => {
    lifeline.end()
    if (failure) return tell(() => failed(failure))
    exitOf(site, exec).then(
      (exitCode) => tell(() => ended(exitCode)),
      (error: unknown) => tell(() => failed(error)),
    )
  })
  const resizer = createResizer(site, exec)
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

function exitOf({ engine }: Site, exec: Exec): Promise<number> {
  const ask = (abortSignal: AbortSignal) => exitCodeOf(exec, abortSignal)
  return engine.call('look how a command ended', ask, { timeoutMs: inspectMs })
}

/** One change at a time, of which only the newest counts. What the engine cannot do is not missed. */
function createResizer({ engine }: Site, exec: Exec) {
  let wanted: TerminalSize | null = null
  let isBusy = false

  async function apply(): Promise<void> {
    isBusy = true
    while (wanted) {
      const size = { w: wanted.columns, h: wanted.rows }
      wanted = null
      const change = (abortSignal: AbortSignal) => exec.resize({ ...size, abortSignal })
      await engine.call('resize a terminal', change).catch(() => undefined)
    }
    isBusy = false
  }

  return {
    resize(size: TerminalSize): void {
      wanted = size
      if (!isBusy) void apply()
    },
  }
}
