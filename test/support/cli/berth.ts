// The command line as users run it, in the process of the test: with its own folder, environment and streams.
// `spawned.ts` has it as a process of its own.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { Input, OutputStream } from '../../../src/cli/invocation.ts'
import { run } from '../../../src/cli/program.ts'
import type { TestDaemon } from '../daemon/daemon.ts'
import { until } from '../daemon/service.ts'
import { type Scope, temporaryDirectory } from '../system/directory.ts'
import { type FakeResponse, type ReceivedRequest, startFakeServer } from './fake-server.ts'

export interface BerthOptions {
  /** The server; by default the one of the configuration. */
  daemon?: Pick<TestDaemon, 'api' | 'dataDir'>
  /** The working directory; an empty one by default. */
  cwd?: string
  env?: Record<string, string>
  /** The content of stdin. */
  input?: string
}

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export interface RunningBerth {
  readonly stdout: string
  readonly stderr: string
  /** Ctrl-C. */
  interrupt(): void
  ended(): Promise<Ended>
  /** Waits until stdout or stderr contains this text. */
  shows(text: string | RegExp): Promise<void>
}

/** Streams in place of those that the command would have. */
interface Redirections {
  stdin?: Input
  stdout?: OutputStream
}

/** The environment of a user whose only configuration is this server. */
export function berthEnv(t: Scope, { daemon, env = {} }: BerthOptions): NodeJS.ProcessEnv {
  const folder = temporaryDirectory(t)
  const server = daemon && {
    BERTH_SERVER: daemon.api.url,
    BERTH_TOKEN: readFileSync(join(daemon.dataDir, 'api_token'), 'utf8').trim(),
  }
  const { NO_COLOR, FORCE_COLOR, BERTH_SERVER, BERTH_TOKEN, ...outer } = process.env
  const places = ['CONFIG', 'STATE', 'CACHE'].map((kind) => [`XDG_${kind}_HOME`, join(folder, kind)])
  return { ...outer, ...Object.fromEntries(places), HOME: folder, ...server, ...env }
}

/** Starts the command and leaves it running until the test ends. */
export function startBerth(
  t: Scope,
  args: string[],
  options: BerthOptions & Redirections = {},
): RunningBerth {
  const { cwd = temporaryDirectory(t), input = '' } = options
  const said = { stdout: '', stderr: '' }
  const keep = (name: keyof typeof said) =>
    textStream((text) => {
      said[name] += text
    })
  const { stdin = new PassThrough().end(input), stdout = keep('stdout') } = options
  const command = begin(t, args, { env: berthEnv(t, options), cwd, stdin, stdout, stderr: keep('stderr') })
  return {
    get stdout() {
      return said.stdout
    },
    get stderr() {
      return said.stderr
    },
    interrupt: command.interrupt,
    async ended() {
      return { code: await command.code, ...said }
    },
    shows: (text) => untilShown(text, `berth ${args.join(' ')}`, () => said.stdout + said.stderr),
  }
}

export function runBerth(
  t: Scope,
  args: string[],
  options: BerthOptions & Redirections = {},
): Promise<Ended> {
  return startBerth(t, args, options).ended()
}

/** A fake server, and `berth` for it, in UTC. `asked` are its requests, with their paths below /api/v1. */
export async function startFakeBerth(t: Scope, respond: (request: ReceivedRequest) => FakeResponse) {
  const server = await startFakeServer(t, respond)
  const place = { BERTH_SERVER: server.url, BERTH_TOKEN: 'bth_x' }
  const env = { ...place, XDG_CACHE_HOME: temporaryDirectory(t), TZ: 'UTC' }
  const berth = (...args: string[]) => runBerth(t, args, { env })
  const requests = () => server.requests.map(({ method, path, body }) => [method, path.slice(7), body])
  return { berth, asked: requests, server, env }
}

/** Runs the command with these streams; interrupted after the test. */
export function begin(
  t: Scope,
  args: string[],
  invocation: Omit<Parameters<typeof run>[0], 'args' | 'signal'>,
) {
  const controller = new AbortController()
  const interrupt = () => controller.abort()
  const code = run({ ...invocation, args, signal: controller.signal })
  t.after(async () => {
    interrupt()
    await code.catch(() => undefined)
  })
  return { code, interrupt }
}

/** A stream whose text is passed to `add`. */
export function textStream(add: (text: string) => void): Writable {
  const decoder = new StringDecoder()
  return new Writable({
    write(bytes: Buffer, _, done) {
      add(decoder.write(bytes))
      done()
    },
  })
}

export async function untilShown(text: string | RegExp, what: string, shown: () => string): Promise<void> {
  const isShown = () => (typeof text === 'string' ? shown().includes(text) : text.test(shown()))
  await until(`${text} from ${what}`, async () => isShown())
}
