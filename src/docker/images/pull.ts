// Images from registries. A tag is first resolved to its digest, and the image is then pulled by that
// digest. Existing image names on this host therefore do not move, and the pulled image is exactly
// the resolved one.
import { Failure } from '../../errors.ts'
import { acceptStatus, type Engine, toFailure } from '../engine/client.ts'
import { streamLines } from '../engine/stream-lines.ts'
import { type ImageReference, parseImageReference } from './image-reference.ts'
import { inspectImage } from './images.ts'
import { describePullFailure, silentRegistry } from './pull-failure.ts'
import { createPullProgress, type PullStep } from './pull-progress.ts'
import { serverAddressOf } from './registry-credentials.ts'

export interface ImageRequest {
  /** In its normal form. */
  reference: string
  /** For the reference's host. */
  credentials: { username: string; password: string } | null
  signal: AbortSignal
}

export interface PullRequest extends ImageRequest {
  onLine: (line: string) => void
}

/** After this time, a registry that hangs counts as unreachable. */
const resolveTimeoutMs = 30_000
/** The engine is silent until the registry has answered; the caller's signal is what bounds a pull. */
const pullTimeoutMs = 60 * 60 * 1000

/**
 * The digest (`sha256:…`) that a reference means at its registry now; nothing is pulled. Throws the codes of
 * `describePullFailure`, what an engine call throws, or the reason of the abort.
 */
export async function resolveDigest(
  engine: Engine,
  request: ImageRequest,
  timeoutMs = resolveTimeoutMs,
): Promise<string> {
  const { reference, signal } = request
  const image = parseImageReference(reference)
  const silence = AbortSignal.timeout(timeoutMs)
  try {
    return await withConnections(engine, AbortSignal.any([signal, silence]), async ({ docker }) => {
      const distribution = await docker.getImage(reference).distribution(authOf(image, request))
      return distribution.Descriptor.digest
    })
  } catch (error) {
    signal.throwIfAborted()
    if (!silence.aborted) throw toPullFailure(error, image, request)
    // If the engine hangs instead of the registry, `ping` throws the engine's error.
    await engine.ping()
    throw silentRegistry({ ...request, host: image.host }, timeoutMs)
  }
}

/**
 * Pulls an image; layers that already exist here are not fetched again. An abort of `signal` also
 * ends the pull in the engine and throws its reason; only `signal` limits the time. Throws the errors
 * of `resolveDigest`.
 */
export async function pullImage(engine: Engine, request: PullRequest): Promise<{ imageId: string }> {
  const { reference, signal } = request
  const image = parseImageReference(reference)
  try {
    await withConnections(engine, signal, async ({ docker }) => {
      const query = { ...pullQuery(image), ...authOf(image, request), abortSignal: signal }
      await follow(await docker.createImage(query), request.onLine)
    })
  } catch (error) {
    signal.throwIfAborted()
    throw toPullFailure(error, image, request)
  }
  const pulled = await inspectImage(engine, reference)
  if (pulled) return { imageId: pulled.id }
  throw new Failure('docker_unavailable', 'Docker ended the pull without a result')
}

/** Takes off the name that a pull by digest gave. The image goes too, unless it is used or has another. */
export async function removePulledName({ call, docker }: Engine, name: string): Promise<void> {
  if (!/@sha256:[0-9a-f]{64}$/.test(name)) {
    throw new Failure('docker_error', `the image '${name}' is not named by its digest and is left alone`)
  }
  const removal = call(`remove the name ${name}`, () => docker.getImage(name).remove())
  await acceptStatus(409, acceptStatus(404, removal))
}

/** Runs on its own connections: closing them ends a request in the engine. */
async function withConnections<T>(
  engine: Engine,
  signal: AbortSignal,
  work: (connections: Engine) => Promise<T>,
): Promise<T> {
  const connections = engine.fork()
  try {
    return await connections.call('ask a registry', () => work(connections), {
      signal,
      timeoutMs: pullTimeoutMs,
    })
  } finally {
    connections.close()
  }
}

/**
 * Without a body, which dockerode would make of the same: the engine does not read it, and while one is
 * unread it does not see that we have hung up.
 */
function pullQuery({ host, repository, tag, digest }: ImageReference) {
  return { _query: { fromImage: `${host}/${repository}`, tag: digest ?? tag }, _body: {} }
}

function authOf({ host }: ImageReference, { credentials }: ImageRequest) {
  if (!credentials) return {}
  const { username, password } = credentials
  return { authconfig: { username, password, serveraddress: serverAddressOf(host) } }
}

/** A pull that fails half way has answered 200: the error is one of the lines. */
async function follow(stream: NodeJS.ReadableStream, onLine: (line: string) => void): Promise<void> {
  const progress = createPullProgress(onLine)
  for await (const line of streamLines(stream)) {
    const step: PullStep & { error?: string } = JSON.parse(line)
    if (step.error !== undefined) throw new Failure('docker_error', step.error)
    progress.push(step)
  }
  progress.end()
}

function toPullFailure(error: unknown, { host }: ImageReference, request: ImageRequest): Failure {
  const failure = toFailure('ask a registry', error)
  if (failure.code !== 'docker_error') return failure
  return describePullFailure(failure.message, { ...request, host })
}
