// Builds an image from a directory. BuildKit first; whatever builds stands behind the same contract.
// A build that fails still answers 200: the error is one of the lines of the answer.
import type { ImageBuildOptions } from 'dockerode'
import { Failure } from '../errors.ts'
import { type BuildContext, openBuildContext } from './build-context.ts'
import { describeBuildFailure } from './build-failure.ts'
import { type BuildLine, type BuildLog, createBuildLog } from './build-log.ts'
import { decodeBuildStatus } from './build-status.ts'
import { type Engine, toFailure } from './client.ts'
import { streamLines } from './stream-lines.ts'

export interface Builder {
  /**
   * Throws `build_failed` with one line that names the step, or what an engine call throws. An abort of
   * `signal` ends the build's processes at once and throws its reason; only `signal` bounds the time.
   */
  build(request: BuildRequest): Promise<{ imageId: string }>
}

export interface BuildRequest {
  contextDir: string
  /** Relative to `contextDir`. */
  dockerfile: string
  /** The directory that neither of them may lead out of; `contextDir` by default. */
  sourceDir?: string
  tag: string
  labels: Record<string, string>
  noCache: boolean
  buildArgs: Record<string, string>
  onLine: BuildLine
  signal: AbortSignal
}

/**
 * The engine answers when it has read the context, which may be large; the caller's signal is what bounds a
 * build.
 */
const uploadTimeoutMs = 60 * 60 * 1000

/** One line of the answer: progress, the result, or the error. */
type BuildMessage = { error?: string } & (
  | { id: 'moby.buildkit.trace'; aux: string }
  | { id: 'moby.image.id'; aux: { ID: string } }
  | { id?: undefined }
)

export function createBuildKit(engine: Engine): Builder {
  return { build: (request) => build(engine, request) }
}

// The build has connections of its own, because the client leaves its session with the engine open when a
// build is aborted. Closing them ends it, and the request that still runs.
async function build(engine: Engine, request: BuildRequest): Promise<{ imageId: string }> {
  const connections = engine.fork()
  const packing = new AbortController()
  try {
    request.signal.throwIfAborted()
    const context = await openBuildContext({ ...request, signal: packing.signal })
    const unreadable = new Promise<never>((_, reject) => context.packed.catch(reject))
    return await Promise.race([run(connections, request, context), unreadable])
  } catch (error) {
    request.signal.throwIfAborted()
    throw error
  } finally {
    packing.abort()
    connections.close()
  }
}

async function run(
  engine: Engine,
  request: BuildRequest,
  context: BuildContext,
): Promise<{ imageId: string }> {
  const { docker, call } = engine
  const { signal } = request
  const options = toBuildOptions(request, context)
  const open = () => docker.buildImage(context.stream, { ...options, abortSignal: signal })
  const answer = await call('build an image', open, { signal, timeoutMs: uploadTimeoutMs })
  try {
    return await follow(answer, createBuildLog(request.onLine))
  } catch (error) {
    throw toFailure('build an image', error)
  }
}

function toBuildOptions(request: BuildRequest, context: BuildContext): ImageBuildOptions {
  return {
    version: '2',
    t: request.tag,
    dockerfile: context.dockerfile,
    labels: request.labels,
    buildargs: request.buildArgs,
    nocache: request.noCache,
  }
}

async function follow(answer: NodeJS.ReadableStream, log: BuildLog): Promise<{ imageId: string }> {
  let imageId: string | null = null
  for await (const line of streamLines(answer)) {
    const message: BuildMessage = JSON.parse(line)
    if (message.error !== undefined) {
      throw new Failure('build_failed', describeBuildFailure(message.error, log.failedStep()))
    }
    if (message.id === 'moby.buildkit.trace') log.push(decodeBuildStatus(message.aux))
    if (message.id === 'moby.image.id') imageId = message.aux.ID
  }
  if (imageId !== null) return { imageId }
  throw new Failure('docker_unavailable', 'Docker ended the build without a result')
}
