// What it is to build an image from a directory: the contract of all builders, and what they share of it.
// A build that fails still answers 200: the error is one of the lines of the answer.
import { type BuildContext, openBuildContext } from '../dockerfile/build-context.ts'
import { withDockerfileAdvice } from '../dockerfile/dockerfile.ts'
import { type Engine, toFailure } from '../engine/client.ts'
import { buildHost, type Owner } from '../engine/names.ts'
import { upload } from '../engine/raw-requests.ts'
import { streamLines } from '../engine/stream-lines.ts'
import type { RegistryCredentials } from '../images/registry-credentials.ts'
import type { BuildGuard } from './build-guard.ts'
import type { BuildLine } from './build-log.ts'
import type { BuildSecret } from './build-session.ts'

export interface ImageBuilder {
  /**
   * Throws `build_failed` with one line that names the step, or what an engine call throws. An abort of
   * `signal` ends the build's processes immediately and throws its reason; only `signal` bounds the time.
   */
  build(request: BuildRequest): Promise<{ imageId: string }>
  /** Whether it knows `RUN --mount`. */
  mounts: boolean
}

export interface BuilderOptions {
  owner: Owner
  guard: BuildGuard
  /** Runs a build, and kills the steps that lost builds left while none runs. */
  run<T>(build: () => Promise<T>): Promise<T>
}

export interface BuildRequest {
  contextDir: string
  /** Relative to `contextDir`. */
  dockerfile: string
  /** The directory that `contextDir` and `dockerfile` must not leave; `contextDir` by default. */
  sourceDir?: string
  /** Lines as of a .dockerignore, instead of those of the source. */
  ignore?: string[]
  tag: string
  labels: Record<string, string>
  noCache: boolean
  /** Of its cache mounts: builds with different namespaces share no folders. */
  cacheNamespace: string
  /** For `ARG`. The image's history shows what a command was run with. */
  buildArgs: Record<string, string>
  /** The stage to build; without it the last one. */
  target?: string | null
  /** For `RUN --mount=type=secret`, byte for byte; they are in no layer and no history. */
  secrets: readonly BuildSecret[]
  /** For private base images. */
  registries: readonly RegistryCredentials[]
  onLine: BuildLine
  /** Called when a step starts, which a line of output does not prove. Only the BuildKit driver calls it. */
  onStep?: (() => void) | undefined
  signal: AbortSignal
}

export interface BuildAttempt {
  /** Connections that end with the build, however it ends. */
  engine: Engine
  owner: Owner
  request: BuildRequest
  context: BuildContext
}

/** For reading the context, which may be large. The build itself is limited by the caller's signal. */
const uploadTimeoutMs = 60 * 60 * 1000

/** On its own connections: closing them ends the build in the engine. An unreadable context ends it too. */
export async function attempt<T>(
  engine: Engine,
  owner: Owner,
  request: BuildRequest,
  run: (build: BuildAttempt) => Promise<T>,
): Promise<T> {
  const connections = engine.fork()
  const packing = new AbortController()
  let dockerfile = ''
  try {
    request.signal.throwIfAborted()
    const context = await openBuildContext({ ...request, signal: packing.signal })
    dockerfile = context.dockerfileText
    const unreadable = new Promise<never>((_, reject) => context.packed.catch(reject))
    return await Promise.race([run({ engine: connections, owner, request, context }), unreadable])
  } catch (error) {
    request.signal.throwIfAborted()
    throw withDockerfileAdvice(error, dockerfile, request.target ?? null)
  } finally {
    packing.abort()
    connections.close()
  }
}

/** Sends the context and gives the messages of the answer as they come. Throws what an engine call throws. */
export async function* messagesOf<Message>(
  { engine, owner, request, context }: BuildAttempt,
  query: Record<string, unknown>,
  headers: Record<string, string> = {},
): AsyncGenerator<Message> {
  const { signal } = request
  const common = {
    t: request.tag,
    dockerfile: context.dockerfile,
    labels: request.labels,
    buildargs: request.buildArgs,
    nocache: request.noCache,
    ...(request.target ? { target: request.target } : {}),
    extrahosts: `${buildHost(owner)}:0.0.0.0`,
  }
  const post = { path: '/build', query: { ...common, ...query }, headers, body: context.stream, signal }
  const response = await engine.call('build an image', () => upload(engine, post), {
    signal,
    timeoutMs: uploadTimeoutMs,
  })
  try {
    for await (const line of streamLines(response)) yield JSON.parse(line)
  } catch (error) {
    throw toFailure('build an image', error)
  }
}

/** `work` runs before the first build and after the last. If it rejects, it is retried; no build fails. */
export function whenBuildsIdle(work: () => Promise<void>): <T>(build: () => Promise<T>) => Promise<T> {
  let running = 0
  let isDone = Promise.resolve()
  const doWork = () => {
    isDone = isDone.then(work).catch(() => {})
    return isDone
  }
  return async (build) => {
    if (running++ === 0) doWork()
    try {
      await isDone
      return await build()
    } finally {
      if (--running === 0) await doWork()
    }
  }
}

/** Shared by the builders of an engine: a step of one could look like a leftover to the other. */
export function builderOptions(owner: Owner, guard: BuildGuard): BuilderOptions {
  return { owner, guard, run: whenBuildsIdle(guard.endSteps) }
}
