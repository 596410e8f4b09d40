// The edge container: HAProxy in the network of the host, with next to no rights.
// A running one is never replaced in place: it has open connections. An upgrade starts another one.
import type { Container, ContainerCreateOptions } from 'dockerode'
import { codeOf, Failure } from '../../errors.ts'
import { acceptStatus, type Engine, orNull } from '../engine/client.ts'
import { edgeKind, labelFilter, labels, type Owner, ownerLabels } from '../engine/names.ts'
import { readLines } from '../logs/instance-log.ts'
import {
  type EngineScope,
  findOwnOrRefuse,
  type InspectedContainer,
  removeContainer,
} from './find-container.ts'

export interface EdgeContainerSpec {
  image: string
  /** Each upgrade starts the next generation. */
  generation: number
  environment: Record<string, string>
  /** Mounted where it is on the host, so that its paths mean the same to both. */
  directory: string
  arguments: string[]
  /** Whether the daemon, to whom the sockets must belong, is a user other than root. */
  isForeignUser: boolean
}

const startTimeoutMs = 60_000

export interface EdgeEnd {
  exitCode: number
  isOutOfMemory: boolean
  /** The last output, oldest line first. */
  output: string
}

/**
 * Returns how the container ended before; null if it did not. Docker restarts an ended one itself, at any
 * moment, so it is started and not replaced: it may serve again by now. One that Docker cannot start is.
 */
export async function ensureEdgeContainer(
  engine: Engine,
  owner: Owner,
  spec: EdgeContainerSpec,
  signal: AbortSignal,
): Promise<EdgeEnd | null> {
  const scope = { engine, owner }
  const name = edgeName(owner, spec.generation)
  const found = await findOwnOrRefuse(scope, name)
  if (found?.info.State.Running && !found.info.State.Restarting) return null
  const start = (container: Container) => {
    const starting = (abortSignal: AbortSignal) => container.start({ abortSignal })
    return acceptStatus(304, engine.call(`start ${name}`, starting, { signal, timeoutMs: startTimeoutMs }))
  }
  const hasRun = found !== null && found.info.State.Status !== 'created'
  const end = hasRun ? await readEnd(engine, found) : null
  if (hasRun && (await start(found.container).then(() => true, isRefused))) return end
  if (found) await removeContainer(scope, found)
  const options = containerOptions(owner, spec)
  const container = await engine.call(
    `create ${name}`,
    (abortSignal) => engine.docker.createContainer({ ...options, abortSignal }),
    { signal },
  )
  await start(container)
  return end
}

/** False if Docker refused; throws if it did not respond. */
function isRefused(error: unknown): false {
  if (codeOf(error) !== 'docker_error') throw error
  return false
}

/** Not there is fine. */
export async function removeEdgeContainer(engine: Engine, owner: Owner, generation: number): Promise<void> {
  const scope: EngineScope = { engine, owner }
  const container = await findOwnOrRefuse(scope, edgeName(owner, generation))
  if (container) await removeContainer(scope, container)
}

/** The generations that have a container, running or not. */
export async function listEdgeContainers(engine: Engine, owner: Owner): Promise<number[]> {
  const filters = { label: labelFilter({ ...ownerLabels(owner), [labels.kind]: edgeKind }) }
  const found = await engine.call('list the edge containers', (abortSignal) =>
    engine.docker.listContainers({ all: true, filters, abortSignal }),
  )
  return found.flatMap(({ Names }) => {
    const [, generation = '1'] = /-edge(?:-(\d+))?$/.exec(Names[0] ?? '') ?? []
    return [Number(generation)]
  })
}

/** Prevents restarts after its exit or a boot. A missing container is fine. */
export async function keepEdgeEnded(engine: Engine, owner: Owner, generation: number): Promise<void> {
  const name = edgeName(owner, generation)
  const container = await findOwnOrRefuse({ engine, owner }, name)
  if (!container || container.info.HostConfig.RestartPolicy?.Name === 'no') return
  await engine.call(`update ${name}`, (abortSignal) =>
    container.container.update({ RestartPolicy: { Name: 'no' }, abortSignal }),
  )
}

export async function resolveEdgeImage(
  engine: Engine,
  owner: Owner,
  generation: number,
): Promise<{ name: string; id: string } | null> {
  const container = await findOwnOrRefuse({ engine, owner }, edgeName(owner, generation))
  return container && { name: container.info.Config.Image, id: container.info.Image }
}

/** An image on this engine, with the version of HAProxy if it names it; null when it is missing. */
export async function readEdgeImage(
  { call, docker }: Engine,
  name: string,
): Promise<{ id: string; version: string | null } | null> {
  const info = await orNull(call(`inspect the image ${name}`, () => docker.getImage(name).inspect()))
  if (!info) return null
  const variables = info.Config.Env ?? []
  const version = variables.find((variable) => variable.startsWith('HAPROXY_VERSION='))?.split('=')[1]
  return { id: info.Id, version: version ?? null }
}

/** The last output, oldest line first; empty if the container was removed. */
export async function edgeOutput(engine: Engine, owner: Owner, generation: number): Promise<string> {
  const container = await findOwnOrRefuse({ engine, owner }, edgeName(owner, generation))
  return container ? readOutput(engine, container) : ''
}

/** How often Docker has restarted the container automatically since its creation. */
export async function edgeRestarts(engine: Engine, owner: Owner, generation: number): Promise<number> {
  return (await findOwnOrRefuse({ engine, owner }, edgeName(owner, generation)))?.info.RestartCount ?? 0
}

async function readEnd(engine: Engine, container: InspectedContainer): Promise<EdgeEnd> {
  const { ExitCode: exitCode, OOMKilled: isOutOfMemory } = container.info.State
  return { exitCode, isOutOfMemory, output: await readOutput(engine, container).catch(() => '') }
}

async function readOutput(engine: Engine, container: InspectedContainer): Promise<string> {
  const query = { stdout: true, stderr: true, timestamps: true, tail: 20, follow: false as const }
  const body = await engine.call('read the edge log', (abortSignal) =>
    container.container.logs({ ...query, abortSignal }),
  )
  return readLines(body)
    .map(({ line }) => line)
    .join('\n')
}

export function edgeName({ prefix }: Owner, generation: number): string {
  return generation === 1 ? `${prefix}-edge` : `${prefix}-edge-${generation}`
}

// Runs as root without capabilities: the master needs none to signal a worker of the same user, and binding
// port 80 needs root.
export function containerOptions(owner: Owner, spec: EdgeContainerSpec): ContainerCreateOptions {
  const forSockets = spec.isForeignUser ? ['CHOWN', 'FOWNER', 'DAC_OVERRIDE'] : []
  return {
    name: edgeName(owner, spec.generation),
    Image: spec.image,
    User: '0:0',
    Entrypoint: ['haproxy'],
    Cmd: spec.arguments,
    Env: Object.entries(spec.environment).map(([name, value]) => `${name}=${value}`),
    Labels: { ...ownerLabels(owner), [labels.kind]: edgeKind },
    StopSignal: 'SIGTERM',
    HostConfig: {
      NetworkMode: 'host',
      RestartPolicy: { Name: 'unless-stopped' },
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      CapAdd: ['NET_BIND_SERVICE', ...forSockets],
      SecurityOpt: ['no-new-privileges:true'],
      Mounts: [{ Type: 'bind', Source: spec.directory, Target: spec.directory }],
      LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '2' } },
    },
  }
}

/** Throws `edge_unavailable`: the engine is on another machine, whose files and ports are not ours. */
export function requireLocalEngine(host: string): void {
  if (host.startsWith('unix://')) return
  const reason = `the engine at ${host} may be another machine, which cannot read what the edge needs`
  throw new Failure('edge_unavailable', reason, '--edge host, or off')
}
