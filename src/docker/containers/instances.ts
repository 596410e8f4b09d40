// The instances of deploys: containers, as idempotent operations. A container without both owner labels is
// never touched, even if it has the name of an instance. Changes use the id of the inspected container, not
// its name.
import { codeOf, Failure } from '../../errors.ts'
import { acceptStatus, type Engine, orNull } from '../engine/client.ts'
import {
  type ContainerKind,
  instanceKind,
  labelFilter,
  labels,
  type Owner,
  ownerFilter,
} from '../engine/names.ts'
import type { Command } from '../exec/exec.ts'
import { type InteractiveExec, type InteractiveOptions, openInteractive } from '../exec/interactive-exec.ts'
import { inspectImage } from '../images/images.ts'
import {
  createLogCursor,
  followLog,
  type LogCursor,
  type LogSource,
  readLines,
} from '../logs/instance-log.ts'
import { type LogLine, type TimedLine, toLogLine } from '../logs/log-frames.ts'
import { type DeniedPath, findDeniedPath } from './denied-path.ts'
import { applyRestart, ensureContainer, startContainer } from './ensure-container.ts'
import { type ExecProblem, findExecProblem } from './exec-problem.ts'
import { type EngineScope, findOwn, findOwnOrRefuse, type InspectedContainer } from './find-container.ts'
import { removeInstance } from './image-volumes.ts'
import { settleExit } from './instance-exit.ts'
import { type InstanceState, isEnded, toInstanceState } from './instance-state.ts'
import { type InstanceUsage, measureUsage } from './instance-usage.ts'
import { type InstanceSpec, type RestartPolicy, wantedInstance } from './spec.ts'

export type { LogLine } from '../logs/log-frames.ts'
export type { InstanceState } from './instance-state.ts'
export type { InstanceUsage } from './instance-usage.ts'
export type { InstanceSpec, RestartPolicy } from './spec.ts'

export interface Instances {
  /** Ensures that it exists and runs: adopts a container with the same spec and replaces any other. */
  ensure(spec: InstanceSpec, signal?: AbortSignal): Promise<InstanceState>
  start(name: string): Promise<void>
  setRestart(name: string, policy: RestartPolicy): Promise<void>
  /** SIGTERM, the grace, SIGKILL. Docker does not start it again. Stopped or gone already is fine. */
  stop(name: string, graceSeconds: number): Promise<void>
  /** Kills it if need be; its anonymous volumes go with it unless they are kept. Gone already is fine. */
  remove(name: string): Promise<void>
  /** Null if there is no container of that name, or it belongs to another owner. */
  inspect(name: string): Promise<InstanceState | null>
  /** Whether `stop` or `remove` was called since it was started last. */
  isAskedToEnd(name: string): boolean
  /** Like `inspect`, but waits up to 2.5 s after exit code 137 to find out whether memory was the cause. */
  inspectExit(name: string, signal?: AbortSignal): Promise<InstanceState | null>
  /** Why its command could not be run; null if its files show no reason. */
  findExecProblem(name: string): Promise<ExecProblem | null>
  /** The path of its disk that another user owns and that its last lines report as denied; null if none. */
  findDeniedPath(name: string): Promise<DeniedPath | null>
  /** Instances, unless another kind is named. */
  list(filter: ListFilter): Promise<InstanceState[]>
  /** The last lines, with `since` only those from that time on; none when it is gone. */
  tail(name: string, lines: number, since?: string | null): Promise<LogLine[]>
  logs(name: string, options: LogOptions): AsyncIterable<LogLine>
  /** The same from that place on, which it keeps; with the engine's own times. */
  follow(name: string, place: LogCursor, signal: AbortSignal): AsyncIterable<TimedLine>
  usage(name: string): Promise<InstanceUsage | null>
  open(name: string, command: Command, options: InteractiveOptions): Promise<InteractiveExec>
}

export interface ListFilter {
  deployId?: string
  serviceId?: string
  kind?: ContainerKind
}

interface LogOptions {
  /** From the first line on, until the instance has ended. */
  follow: true
  /** Ends the iteration quietly. */
  signal: AbortSignal
}

const stopMarginMs = 30_000
const rememberedNames = 10_000
/** A stack trace follows the line that names a denied path. */
const searchedLines = 50

export function openInstances(
  engine: Engine,
  owner: Owner,
  keepVolumes?: EngineScope['keepVolumes'],
): Instances {
  const scope = { engine, owner, ...(keepVolumes && { keepVolumes }) }
  const inspect = async (name: string) => stateOf(await findOwn(scope, name))
  const requestedNames = createNames()
  return {
    ensure(spec, signal) {
      requestedNames.delete(spec.name)
      const wanted = wantedInstance(owner, spec, () => inspectImage(engine, spec.image))
      return ensureContainer(scope, wanted, signal)
    },
    async start(name) {
      requestedNames.delete(name)
      return startContainer(scope, await existing(scope, name))
    },
    setRestart: async (name, policy) => applyRestart(scope, await existing(scope, name), policy),
    stop(name, graceSeconds) {
      requestedNames.add(name)
      return stop(scope, name, graceSeconds)
    },
    remove(name) {
      requestedNames.add(name)
      return remove(scope, name)
    },
    inspect,
    isAskedToEnd: requestedNames.has,
    inspectExit: (name, signal) => settleExit(engine, () => inspect(name), signal),
    async findExecProblem(name) {
      const container = await findOwn(scope, name)
      return container && findExecProblem(engine, container)
    },
    async findDeniedPath(name) {
      const container = await findOwn(scope, name)
      const lines = await tail(scope, name, searchedLines, null)
      const texts = lines.map(({ line }) => line)
      return container && findDeniedPath(scope, container, texts)
    },
    list: (filter) => list(scope, filter),
    tail: (name, lines, since) => tail(scope, name, lines, since ?? null),
    logs: (name, { signal }) => logs(scope, name, signal),
    follow: (name, place, signal) => followLog(logSource(scope, name, signal), place, signal),
    usage: (name) => usage(scope, name),
    open: (name, command, options) => openInteractive(scope, name, command, options),
  }
}

/** The newest names: events about a container may come after it is gone. */
function createNames() {
  const names = new Set<string>()
  return {
    add(name: string): void {
      names.delete(name)
      names.add(name)
      const [oldest] = names
      if (names.size > rememberedNames && oldest !== undefined) names.delete(oldest)
    },
    delete: (name: string): void => void names.delete(name),
    has: (name: string): boolean => names.has(name),
  }
}

async function existing(scope: EngineScope, name: string): Promise<InspectedContainer> {
  const container = await findOwnOrRefuse(scope, name)
  if (container === null) throw new Failure('docker_error', `there is no container '${name}'`)
  return container
}

async function stop(scope: EngineScope, name: string, graceSeconds: number): Promise<void> {
  const container = await findOwnOrRefuse(scope, name)
  if (container === null) return
  // The engine may still be carrying out the stop of an earlier try: the policy of what ends
  // does not matter.
  await applyRestart(scope, container, 'no').catch(ignoreRefusal)
  const timeoutMs = graceSeconds * 1000 + stopMarginMs
  const request = (abortSignal: AbortSignal) => container.container.stop({ t: graceSeconds, abortSignal })
  const stopped = scope.engine.call(`stop ${name}`, request, { timeoutMs })
  await acceptStatus(404, acceptStatus(304, stopped))
}

function ignoreRefusal(error: unknown): void {
  if (codeOf(error) !== 'docker_error') throw error
}

async function remove(scope: EngineScope, name: string): Promise<void> {
  const container = await findOwnOrRefuse(scope, name)
  if (container !== null) await removeInstance(scope, container)
}

async function list(scope: EngineScope, filter: ListFilter): Promise<InstanceState[]> {
  const { docker, call } = scope.engine
  const label = [...ownerFilter(scope.owner), ...labelFilter(toLabels(filter))]
  const containers = await call('list instances', (abortSignal) =>
    docker.listContainers({ all: true, filters: { label }, abortSignal }),
  )
  const states = await Promise.all(containers.map(async ({ Id }) => stateOf(await findOwn(scope, Id))))
  return states.filter((state) => state !== null).sort((a, b) => (a.name < b.name ? -1 : 1))
}

function toLabels({ deployId, serviceId, kind = instanceKind }: ListFilter): Record<string, string> {
  return {
    [labels.kind]: kind,
    ...(deployId === undefined ? {} : { [labels.id]: deployId }),
    ...(serviceId === undefined ? {} : { [labels.serviceId]: serviceId }),
  }
}

async function tail(
  scope: EngineScope,
  name: string,
  lines: number,
  since: string | null,
): Promise<LogLine[]> {
  const container = await findOwn(scope, name)
  if (container === null) return []
  const body = scope.engine.call(`read the log of ${name}`, (abortSignal) =>
    container.container.logs({ ...withTimes, ...from(since), tail: lines, follow: false, abortSignal }),
  )
  return readLines((await orNull(body)) ?? new Uint8Array())
}

async function* logs(scope: EngineScope, name: string, signal: AbortSignal): AsyncGenerator<LogLine> {
  const lines = followLog(logSource(scope, name, signal), createLogCursor(), signal)
  for await (const line of lines) yield toLogLine(line)
}

function logSource(scope: EngineScope, name: string, signal: AbortSignal): LogSource {
  async function open(since: string | undefined) {
    const container = await findOwn(scope, name)
    if (container === null) return []
    const query = { ...withTimes, ...from(since ?? null), follow: true as const, abortSignal: signal }
    const opening = scope.engine.call(`follow the log of ${name}`, () => container.container.logs(query), {
      signal,
    })
    return (await orNull(opening)) ?? []
  }

  async function hasEnded() {
    const state = stateOf(await findOwn(scope, name))
    return state === null || isEnded(state)
  }

  return { open, hasEnded }
}

/** Docker takes instants as seconds since 1970, with a fraction. */
const from = (since: string | null) => (since === null ? {} : { since: Date.parse(since) / 1000 })
const withTimes = { stdout: true, stderr: true, timestamps: true }

async function usage(scope: EngineScope, name: string): Promise<InstanceUsage | null> {
  const container = await findOwn(scope, name)
  return container?.info.State.Running ? measureUsage(scope.engine, container.container) : null
}

function stateOf(container: InspectedContainer | null): InstanceState | null {
  return container && toInstanceState(container.info)
}

export interface InstanceSummary {
  containerId: string
  name: string
  deployId: string
  serviceId: string
  index: number
  /** It runs, or Docker is about to start it again. */
  isUp: boolean
}

/** Every instance there is, in no order. Throws `docker_unavailable`, and the signal's reason. */
export async function summarizeInstances(
  { docker, call }: Engine,
  owner: Owner,
  signal: AbortSignal,
): Promise<InstanceSummary[]> {
  const label = [...ownerFilter(owner), ...labelFilter({ [labels.kind]: instanceKind })]
  const containers = await call(
    'look at instances',
    (abortSignal) => docker.listContainers({ all: true, filters: { label }, abortSignal }),
    { signal },
  )
  return containers.map(({ Id, Names, Labels, State }) => ({
    containerId: Id,
    name: (Names[0] ?? '').replace(/^\//, ''),
    deployId: Labels[labels.id] ?? '',
    serviceId: Labels[labels.serviceId] ?? '',
    index: Number(Labels[labels.index] ?? 0),
    isUp: State === 'running' || State === 'restarting' || State === 'paused',
  }))
}
