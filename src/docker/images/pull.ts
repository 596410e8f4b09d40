// Pulls images. A tag is first resolved to its digest, and the image is pulled by that digest: existing names
// on this host do not move, and the pulled image is exactly the resolved one.
import { Failure } from '../../errors.ts'
import { size } from '../../quantities.ts'
import { acceptStatus, type Engine, toFailure } from '../engine/client.ts'
import { streamLines } from '../engine/stream-lines.ts'
import { type ImageReference, parseImageReference } from './image-reference.ts'
import { inspectImage } from './images.ts'
import { describePullFailure, silentRegistry } from './pull-failure.ts'
import { serverAddressOf } from './registry-credentials.ts'

interface ImageRequest {
  /** In its normal form. */
  reference: string
  credentials: { username: string; password: string } | null
  signal: AbortSignal
}

interface PullRequest extends ImageRequest {
  onLine: (line: string) => void
}

/** After this time, a registry that hangs counts as unreachable. */
const resolveTimeoutMs = 30_000
/** The engine is silent until the registry has answered; the caller's signal is what bounds a pull. */
const pullTimeoutMs = 60 * 60 * 1000

/** Throws the codes of `describePullFailure`, what an engine call throws, or the reason of the abort. */
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

/** An abort also ends the pull in the engine; only `signal` limits the time. Throws like `resolveDigest`. */
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

/** Without a body: the engine does not read it, and does not notice an abort while one is unread. */
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

/** One step as the engine reports it; `id` is the id of a layer, except in the first step. */
interface PullStep {
  id?: string
  status?: string
  progressDetail?: { current?: number; total?: number }
}

interface PullProgress {
  push(step: PullStep): void
  end(): void
}

interface Layer {
  receivedBytes: number
  totalBytes: number
  state: 'coming' | 'pulled' | 'here'
}

const pauseMs = 5000
const mebibyte = 1024 * 1024
const layerStatus =
  /^(Pulling fs layer|Waiting|Downloading|Verifying|Download complete|Extracting|Pull complete)/

export function createPullProgress(
  onLine: (line: string) => void,
  now: () => number = Date.now,
): PullProgress {
  const layers = new Map<string, Layer>()
  let loggedAt = now()

  function push({ id, status = '', progressDetail }: PullStep): void {
    if (id === undefined || !(layerStatus.test(status) || status === 'Already exists')) return
    layers.set(id, advance(layers.get(id), status, progressDetail ?? {}))
    if (now() - loggedAt < pauseMs) return
    loggedAt = now()
    onLine(describe([...layers.values()]))
  }

  return {
    push,
    end: () => onLine(conclude([...layers.values()])),
  }
}

function advance(
  before: Layer | undefined,
  status: string,
  { current = 0, total = 0 }: { current?: number; total?: number },
): Layer {
  const layer: Layer = before ?? { receivedBytes: 0, totalBytes: 0, state: 'coming' }
  if (status === 'Already exists') return { ...layer, state: 'here' }
  if (status === 'Pull complete') return { ...layer, state: 'pulled' }
  if (status === 'Download complete') return { ...layer, receivedBytes: layer.totalBytes }
  return status === 'Downloading' ? { ...layer, receivedBytes: current, totalBytes: total } : layer
}

function describe(layers: Layer[]): string {
  const done = layers.filter(({ state }) => state !== 'coming').length
  const [received, total] = [sum(layers, 'receivedBytes'), sum(layers, 'totalBytes')]
  return `${done} of ${count(layers.length)} are present, ${size(received)} of ${size(total)} received`
}

function conclude(layers: Layer[]): string {
  const pulled = layers.filter(({ state }) => state === 'pulled')
  if (pulled.length === 0) return 'pulled: all its layers were already present'
  const rest = layers.length - pulled.length
  const others = rest === 0 ? '' : `, ${rest} ${rest === 1 ? 'was' : 'were'} already present`
  const bytes = sum(pulled, 'totalBytes')
  // Of very small layers the engine does not always tell the size.
  const amount = bytes < mebibyte / 10 ? '' : ` of ${size(bytes)}`
  return `pulled ${count(pulled.length)}${amount}${others}`
}

function count(layers: number): string {
  return layers === 1 ? '1 layer' : `${layers} layers`
}

function sum(layers: Layer[], which: 'receivedBytes' | 'totalBytes'): number {
  return layers.reduce((bytes, layer) => bytes + layer[which], 0)
}
