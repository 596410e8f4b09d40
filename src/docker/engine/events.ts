// Events of this server's containers, without gaps or repetitions when the stream reconnects. They are
// only hints: a restarted engine has forgotten its events, so a watcher also reads the whole state after
// each (re)connection.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sleep } from '../../async/sleep.ts'
import type { InstanceState } from '../containers/instance-state.ts'
import type { Engine } from './client.ts'
import { labels, type Owner, ownerFilter } from './names.ts'
import { streamLines } from './stream-lines.ts'

export interface ContainerEvent {
  type: 'container'
  action: ContainerAction
  name: string
  /** The kind of the container: `deploy` for an instance. */
  kind: string
  deployId: string
  serviceId: string
  index: number
  /** Only for `die`. */
  exitCode: number | null
  /** Nanoseconds since 1970, exact to a few hundred: a number holds no more. */
  timeNano: number
}

const actions = ['create', 'start', 'die', 'oom', 'pause', 'unpause', 'stop', 'destroy'] as const
type ContainerAction = (typeof actions)[number]

/** A half-open connection stays silent without an error, so each connection is replaced after this time. */
const connectionMs = 60_000
const firstPauseMs = 100
const longestPauseMs = 5_000
const rememberedEvents = 1_000

/** Until `signal` is aborted. Never rejects. `onConnected`: whenever the stream was opened or reopened. */
export async function watchEvents(
  engine: Engine,
  owner: Owner,
  onEvent: (event: ContainerEvent) => void,
  signal: AbortSignal,
  onConnected: () => void = () => {},
): Promise<void> {
  const history = createHistory()
  let failures = 0
  while (!signal.aborted) {
    for await (const news of connection(engine, owner, history.since(), signal)) {
      if (news === 'connected') {
        failures = 0
        onConnected()
      } else if (history.isNew(news)) onEvent(news)
    }
    const pauseMs = Math.min(firstPauseMs * 2 ** failures++, longestPauseMs)
    await sleep(pauseMs, signal).catch(() => {})
  }
}

/** The events of one connection; it ends when the connection does, for whatever reason. */
async function* connection(
  engine: Engine,
  owner: Owner,
  since: { since?: number },
  signal: AbortSignal,
): AsyncGenerator<'connected' | ContainerEvent> {
  const bound = new AbortController()
  const giveUp = () => bound.abort()
  const timer = setTimeout(giveUp, connectionMs)
  signal.addEventListener('abort', giveUp, { once: true })
  const filters = { type: ['container' as const], event: [...actions], label: ownerFilter(owner) }
  const request = { ...since, filters, abortSignal: bound.signal }
  try {
    const stream = await engine.call('watch events', () => engine.docker.getEvents(request), { signal })
    yield 'connected'
    for await (const line of streamLines(stream)) yield* toEvents(JSON.parse(line))
  } catch {
    // Unavailable, cut off or timed out: in each case the next connection continues where this one ended.
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
    bound.abort()
  }
}

interface EngineEvent {
  Action: string
  Actor: { Attributes: Record<string, string> }
  timeNano: number
}

function toEvents({ Action, Actor: { Attributes: about }, timeNano }: EngineEvent): ContainerEvent[] {
  const action = actions.find((known) => known === Action)
  if (action === undefined) return []
  const exitCode = action === 'die' ? Number(about.exitCode) : null
  const event = {
    type: 'container' as const,
    action,
    name: about.name ?? '',
    kind: about[labels.kind] ?? '',
    deployId: about[labels.id] ?? '',
    serviceId: about[labels.serviceId] ?? '',
    index: Number(about[labels.index] ?? 0),
  }
  return [{ ...event, exitCode, timeNano }]
}

/** Knows where to resume, and which events of that instant were seen: `since` includes its instant. */
function createHistory() {
  const seen = new Set<string>()
  let newestNano = 0

  function isNew(event: ContainerEvent): boolean {
    const key = `${event.timeNano} ${event.action} ${event.name}`
    if (seen.has(key)) return false
    seen.add(key)
    newestNano = Math.max(newestNano, event.timeNano)
    forgetOldest()
    return true
  }

  function forgetOldest(): void {
    const [oldest] = seen
    if (seen.size > rememberedEvents && oldest !== undefined) seen.delete(oldest)
  }

  // In seconds, rounded down to a microsecond: what the precision of a number is sure to hold.
  const since = () => (newestNano === 0 ? {} : { since: (Math.floor(newestNano / 1e3) - 1) / 1e6 })

  return { isNew, since }
}

/**
 * Whether the engine did not see the end of a container. One that was killed while it ran may say, once it is
 * started again, that the container ended by itself with 0 at that moment (moby 45788).
 */
export async function hasMissedEnd(
  engine: Engine,
  { containerId, startedAt, finishedAt }: Pick<InstanceState, 'containerId' | 'startedAt' | 'finishedAt'>,
): Promise<boolean> {
  if (startedAt === null || finishedAt === null) return false
  const engineStart = await readEngineStart(engine)
  const isBetween = (atMs: number) => Date.parse(startedAt) < atMs && atMs <= Date.parse(finishedAt)
  if (engineStart !== null && !isBetween(engineStart)) return false
  if (!(await isForgotten(engine, { containerId, event: 'start', at: startedAt }))) return false
  return isForgotten(engine, { containerId, event: 'die', at: finishedAt })
}

/** In ms since 1970; null if nothing of the engine shows it. */
async function readEngineStart(engine: Engine): Promise<number | null> {
  const { rootDir } = await engine.info()
  if (rootDir === null) return null
  // A starting engine creates both again. Only root may look into its folder.
  const folder = await stat(join(rootDir, 'tmp')).catch(() => null)
  if (folder !== null) return folder.birthtimeMs
  const pidFile = await stat('/run/docker.pid').catch(() => null)
  return pidFile === null ? null : pidFile.mtimeMs
}

/** True too when so much happened since that the engine forgot: it keeps 256 events. */
export async function wasEngineRestarted(
  engine: Engine,
  { containerId, startedAt }: InstanceState,
): Promise<boolean> {
  return startedAt !== null && isForgotten(engine, { containerId, event: 'start', at: startedAt })
}

/** Whether the engine no longer knows the event of a container, which was not before `at`. */
export async function isForgotten(
  { call, docker }: Engine,
  { containerId, event, at }: { containerId: string; event: 'create' | 'start' | 'die'; at: string },
): Promise<boolean> {
  const filters = { container: [containerId], event: [event] }
  const since = Date.parse(at) / 1000 - 1
  // What is past already: the answer ends with it.
  const until = Date.now() / 1000
  const events = await call('look back at events', (abortSignal) =>
    docker.getEvents({ since, until, filters, abortSignal }),
  )
  for await (const _ of streamLines(events)) return false
  return true
}
