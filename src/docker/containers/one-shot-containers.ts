// One-shot containers of an image, which run one of its programs to the end. Those of a datastore have the
// server's version and their own memory, and unlike commands inside the datastore's container they can be
// stopped. An existing one-shot container is left over from a crash and is removed.
import type { Duplex } from 'node:stream'
import type { Container, ContainerCreateOptions } from 'dockerode'
import { sleep } from '../../async/sleep.ts'
import { Failure } from '../../errors.ts'
import { type Engine, hasStatus, toFailure } from '../engine/client.ts'
import { hasMissedEnd } from '../engine/events.ts'
import { labels, type Owner, ownerLabels, toolKind, toolName } from '../engine/names.ts'
import { type CommandOutput, readOutput } from '../exec/command-output.ts'
import { type EngineScope, findOwnOrRefuse, removeContainer } from './find-container.ts'
import { confinement, type Limits, limits, toMount } from './spec.ts'

export interface OneShotSpec extends Limits {
  /** The actor's that uses it; one at a time. */
  id: string
  image: string
  argv: string[]
  /** Secrets come in here: arguments can be read by every user of the host. */
  env: Record<string, string>
  /** The container whose network it shares; null for no network. */
  networkOf: string | null
  /** By default that of the image. */
  user?: string
  volume?: { name: string; mountPath: string }
}

export interface OneShotStreams {
  input?: AsyncIterable<Uint8Array>
  /** Receives the tool's output piece by piece, each piece only after the previous one has been consumed. */
  output?: (piece: Uint8Array) => Promise<void>
}

export interface OneShotOutcome extends CommandOutput {
  exitCode: number
  isOutOfMemory: boolean
}

export interface OneShotContainers {
  /** Runs one to its end. Throws `docker_error`, `docker_unavailable`, and what the streams throw. */
  run(spec: OneShotSpec, streams: OneShotStreams, signal: AbortSignal): Promise<OneShotOutcome>
  /** Ends and removes what may be left of that actor's. */
  remove(id: string): Promise<void>
}

const endMs = 60_000
const createAttempts = 50
const createAgainMs = 100

export function openOneShotContainers(engine: Engine, owner: Owner): OneShotContainers {
  const scope = { engine, owner }
  return {
    run: (spec, streams, signal) => runTool(scope, spec, streams, signal),
    remove: (id) => removeTool(scope, id),
  }
}

async function runTool(scope: EngineScope, spec: OneShotSpec, streams: OneShotStreams, signal: AbortSignal) {
  const { engine } = scope
  await removeTool(scope, spec.id)
  const options = toolOptions(scope.owner, spec, await engine.info())
  const container = await createTool(scope, spec.id, options, signal)
  try {
    const words = await converse(scope, container, streams, signal)
    const end = await engine.call('wait for a tool', (abortSignal) => container.wait({ abortSignal }), {
      timeoutMs: endMs,
      signal,
    })
    const { State } = await engine.call('inspect a tool', (abortSignal) => container.inspect({ abortSignal }))
    await requireSeenEnd(engine, container.id, State)
    return { ...words, exitCode: Number(end.StatusCode), isOutOfMemory: State.OOMKilled }
  } finally {
    // If the engine is unavailable now, the next run or `remove` with this id removes the container.
    await removeTool(scope, spec.id).catch(() => undefined)
  }
}

async function requireSeenEnd(
  engine: Engine,
  containerId: string,
  { StartedAt: startedAt, FinishedAt: finishedAt }: { StartedAt: string; FinishedAt: string },
): Promise<void> {
  if (!(await hasMissedEnd(engine, { containerId, startedAt, finishedAt }))) return
  throw new Failure('docker_unavailable', 'the Docker engine was restarted while it ran a tool')
}

/** Retries while the name is in use: it stays in use for a moment after the previous tool was removed. */
async function createTool(
  { engine }: EngineScope,
  id: string,
  options: ContainerCreateOptions,
  signal: AbortSignal,
) {
  const create = (abortSignal: AbortSignal) => engine.docker.createContainer({ ...options, abortSignal })
  for (let attempt = 1; ; attempt++) {
    try {
      return await engine.call(`create a tool for ${id}`, create, { signal })
    } catch (error) {
      if (attempt === createAttempts || !hasStatus(error, 409)) throw error
      await sleep(createAgainMs, signal)
    }
  }
}

/** Attaches to the container before its start, so that no output is lost. */
async function converse(
  { engine }: EngineScope,
  container: Container,
  { input, output }: OneShotStreams,
  signal: AbortSignal,
): Promise<CommandOutput> {
  const how = { stream: true, hijack: true, stdin: true, stdout: true, stderr: true }
  const stream = (await engine.call(
    'attach to a tool',
    (abortSignal) => container.attach({ ...how, abortSignal }),
    { signal },
  )) as Duplex
  const close = () => void stream.destroy()
  // The reader and the writer get the error through their own promises.
  stream.on('error', () => undefined)
  signal.addEventListener('abort', close)
  try {
    await engine.call('start a tool', (abortSignal) => container.start({ abortSignal }), { signal })
    const feeding = feed(stream, input ?? nothing()).catch((error: unknown) => {
      close()
      throw error
    })
    feeding.catch(() => undefined)
    const reading = readOutput(stream, output).finally(close)
    const [words] = await Promise.allSettled([reading, feeding])
    signal.throwIfAborted()
    await feeding
    if (words.status === 'rejected') throw toFailure('read what a tool writes', words.reason)
    return words.value
  } finally {
    signal.removeEventListener('abort', close)
    close()
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** A tool that has ended takes no more, which its exit code explains. */
async function feed(stream: Duplex, input: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of input) {
    if (stream.destroyed) return
    if (!stream.write(piece)) await drained(stream)
  }
  if (!stream.destroyed) stream.end()
}

/** Also when it is closed. */
function drained(stream: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      stream.off('drain', settle).off('close', settle)
      resolve()
    }
    stream.on('drain', settle).on('close', settle)
  })
}

function toolOptions(owner: Owner, spec: OneShotSpec, host: { cpus: number }) {
  const [program, ...words] = spec.argv
  return {
    name: toolName(owner, spec.id),
    Image: spec.image,
    Env: Object.entries(spec.env).map(([key, value]) => `${key}=${value}`),
    Labels: { ...ownerLabels(owner), [labels.kind]: toolKind, [labels.id]: spec.id },
    Entrypoint: [program!],
    Cmd: words,
    ...(spec.user === undefined ? {} : { User: spec.user }),
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    HostConfig: {
      Init: true,
      NetworkMode: spec.networkOf === null ? 'none' : `container:${spec.networkOf}`,
      RestartPolicy: { Name: 'no' as const },
      ...confinement,
      Mounts: spec.volume === undefined ? [] : [toMount(spec.volume)],
      // What it writes is data: no copy of it belongs into a log.
      LogConfig: { Type: 'none', Config: {} },
      ...limits(spec, { cpus: host.cpus, loggingDriver: 'none' }),
    },
  }
}

async function removeTool(scope: EngineScope, id: string): Promise<void> {
  const container = await findOwnOrRefuse(scope, toolName(scope.owner, id))
  if (container) await removeContainer(scope, container)
}
