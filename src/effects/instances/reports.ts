// Events of instances, for the change feed and the log of their service. Docker's events trigger inspections.

import { constants } from 'node:os'
import type { Storage } from '../../../storage/index.ts'
import { sleep } from '../../async/sleep.ts'
import { killedExitCode } from '../../docker/containers/exit-explanation.ts'
import { wasKilledForMemory } from '../../docker/containers/instance-exit.ts'
import { type InstanceState, isEnded } from '../../docker/containers/instance-state.ts'
import type { Instances } from '../../docker/containers/instances.ts'
import type { ContainerEvent } from '../../docker/engine/events.ts'
import { instanceKind } from '../../docker/engine/names.ts'
import { messageOf } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { duration } from '../../quantities.ts'
import type { InstanceEvents } from '../engine/instance-events.ts'
import type { LogCollector } from '../logs/log-collector.ts'
import { InstanceFeed } from './feed.ts'

interface Parts {
  instances: Instances
  instanceEvents: InstanceEvents
  logCollector: LogCollector
  logger: Logger
  storage: Pick<Storage, 'actors' | 'commit' | 'runtimeLogs' | 'services'>
}

/** The state of one container since this daemon started to follow it. */
interface Life {
  startedNano: number | null
  oomNano: number
  /** The restart delay before its last start; null if unknown. */
  delayMs: number | null
  /** Whether a kill in the kernel log was counted: the log also contains those of earlier runs. */
  isKernelLogUsed: boolean
  /** Lines are written in the order of the events. */
  tail: Promise<void>
  pending: number
}

const newLife = { startedNano: null, oomNano: 0, delayMs: null, isKernelLogUsed: false }

/** Docker may report a kill for memory only after the exit. */
const oomWaitMs = 1000
const pollIntervalMs = 100
/** How long the last output of an instance may take from Docker to the log. */
const outputDelayMs = 250
/** Per instance: further events are not logged. */
const maxPendingEvents = 20

export class InstanceReports {
  readonly #parts: Parts
  readonly #feed: InstanceFeed
  readonly #closing = new AbortController()
  readonly #lives = new Map<string, Life>()
  readonly #unsubscribe: () => void

  constructor(parts: Parts) {
    this.#parts = parts
    this.#feed = new InstanceFeed(parts)
    this.#unsubscribe = parts.instanceEvents.subscribeAll((event) => this.#handleEvent(event))
  }

  /** Inspects all instances: events may have been missed while the engine or this daemon was down. */
  refresh(): void {
    this.#feed.refresh().catch((error: unknown) => {
      this.#parts.logger.warn({ reason: messageOf(error) }, 'the state of instances is not known')
    })
  }

  close(): void {
    this.#unsubscribe()
    this.#closing.abort()
    this.#feed.close()
  }

  #handleEvent(event: ContainerEvent): void {
    const { action, name, kind, serviceId, timeNano } = event
    if (kind !== instanceKind || serviceId === '') return
    const life = this.#lifeOf(event)
    if (action === 'oom') life.oomNano = timeNano
    else if (action !== 'stop') this.#feed.touch(name, serviceId)
    const { startedNano } = life
    if (action === 'start') life.startedNano = timeNano
    if (action !== 'start' && action !== 'die' && action !== 'destroy') return
    if (life.pending >= maxPendingEvents) return
    const isRequested = this.#parts.instances.isAskedToEnd(name)
    life.pending += 1
    life.tail = life.tail
      .then(() => this.#report(event, { ...life, startedNano }, life, isRequested))
      .catch((error: unknown) => {
        if (this.#closing.signal.aborted) return
        this.#parts.logger.warn({ instance: name, reason: messageOf(error) }, 'an event is not in the log')
      })
      .finally(() => {
        life.pending -= 1
        if (life.pending === 0 && action === 'destroy') this.#lives.delete(name)
      })
  }

  /** Reports of a container wait for those of the container that it replaces. */
  #lifeOf({ action, name }: ContainerEvent): Life {
    const live = this.#lives.get(name)
    if (live && action !== 'create') return live
    const life: Life = live ?? { ...newLife, tail: Promise.resolve(), pending: 0 }
    if (action === 'create') Object.assign(life, newLife, { delayMs: 0 })
    this.#lives.set(name, life)
    return life
  }

  /** `before` is the state when the event arrived. */
  async #report(event: ContainerEvent, before: Life, life: Life, isAsked: boolean): Promise<void> {
    if (event.action === 'start') {
      if (this.#isOfLiveDeploy(event)) this.#writeEvent(event, started)
    } else if (event.action === 'destroy') {
      if (!isAsked && this.#isOfLiveDeploy(event)) this.#writeEvent(event, removed)
    } else {
      const exit = await this.#describeExit(event, before, life, isAsked)
      if (!isAsked || this.#isOfLiveDeploy(event)) this.#writeEvent(event, exit)
    }
  }

  async #describeExit(
    event: ContainerEvent,
    before: Life,
    life: Life,
    isAsked: boolean,
  ): Promise<InstanceEvent> {
    const state = await this.#parts.instances.inspect(event.name).catch(() => null)
    const runMs = before.startedNano === null ? null : (event.timeNano - before.startedNano) / 1e6
    // With this policy Docker restarts a container, unless a command stopped it: then Berth does.
    const isUp = state?.state === 'restarting' || state?.state === 'running'
    const byDocker = !isAsked && isUp && state?.restart === 'unless-stopped'
    life.delayMs = byDocker ? restartDelay(life.delayMs, runMs) : 0
    const outOfMemory = event.exitCode === killedExitCode && (await this.#wasForMemory(before, life, state))
    // The last output comes before the line about the exit.
    if (state && isEnded(state)) await this.#parts.logCollector.drained(event.name)
    else await sleep(outputDelayMs, this.#closing.signal)
    return {
      type: isAsked ? 'stopped' : 'exited',
      exit_code: event.exitCode,
      out_of_memory: outOfMemory,
      restarts: byDocker || (!isAsked && this.#willRestart(event)),
      restarts_in_ms: byDocker ? life.delayMs : null,
    }
  }

  #willRestart({ serviceId, deployId }: ContainerEvent): boolean {
    const service = this.#parts.storage.services.get(serviceId)
    return service?.live_deploy_id === deployId && !service.suspended && !service.deleting
  }

  async #wasForMemory(before: Life, life: Life, state: InstanceState | null): Promise<boolean> {
    const { signal } = this.#closing
    for (let waitedMs = 0; ; waitedMs += pollIntervalMs) {
      if (life.oomNano > 0 && life.oomNano >= (before.startedNano ?? 0)) return true
      if (state?.oomKilled) return true
      if (!life.isKernelLogUsed && state && (await wasKilledForMemory(state.containerId))) {
        life.isKernelLogUsed = true
        return true
      }
      if (waitedMs >= oomWaitMs) return false
      await sleep(pollIntervalMs, signal)
    }
  }

  /** The log of an unfinished deploy already contains its starts and stops. */
  #isOfLiveDeploy({ deployId, timeNano }: ContainerEvent): boolean {
    const record = this.#parts.storage.actors.record(deployId)
    if (record?.status !== 'live') return false
    return timeNano / 1e6 >= Date.parse(String(record.finished_at))
  }

  #writeEvent(event: ContainerEvent, what: InstanceEvent): void {
    const { serviceId, deployId, index, timeNano } = event
    const ts = new Date(timeNano / 1e6).toISOString()
    const about = { instance: String(index), deploy_id: deployId, event: what }
    const { runtimeLogs, services } = this.#parts.storage
    const service = services.get(serviceId)
    // A late line would recreate the removed log of a service that is being deleted.
    if (service && !service.deleting && !this.#closing.signal.aborted)
      runtimeLogs.append(serviceId, 'system', formatEvent(index, what), ts, about)
  }
}

export interface InstanceEvent {
  /** `stopped` instead of `exited` if Berth ended it. */
  type: 'started' | 'exited' | 'stopped' | 'removed'
  exit_code: number | null
  /** The main process was killed at the memory limit. */
  out_of_memory: boolean
  /** Whether Docker or Berth restarts it. */
  restarts: boolean
  /** Docker's delay; null if it is unknown or Berth restarts the instance. */
  restarts_in_ms: number | null
}

const noDetails = { exit_code: null, out_of_memory: false, restarts: false, restarts_in_ms: null }

export const started: InstanceEvent = { type: 'started', ...noDetails }
export const removed: InstanceEvent = { type: 'removed', ...noDetails }

/** `instance 2 exited with code 137 (out of memory); it restarts in 2s` */
export function formatEvent(index: number, event: InstanceEvent): string {
  const subject = `instance ${index + 1}`
  if (event.type === 'started') return `${subject} started`
  if (event.type === 'removed') return `${subject} was removed from Docker`
  const verb = event.type === 'stopped' ? 'was stopped, and exited' : 'exited'
  return `${subject} ${verb} with code ${event.exit_code ?? 'unknown'}${exitText(event)}${restartText(event)}`
}

function exitText({ exit_code, out_of_memory }: InstanceEvent): string {
  if (out_of_memory) return ' (out of memory)'
  const signal = Object.entries(constants.signals).find(([, number]) => number === (exit_code ?? 0) - 128)
  return signal ? ` (${signal[0]})` : ''
}

function restartText({ restarts, restarts_in_ms }: InstanceEvent): string {
  if (!restarts) return ''
  return restarts_in_ms === null ? '; it restarts' : `; it restarts in ${duration(restarts_in_ms)}`
}
// How long Docker waits before it starts a crashed container again. Pure. Docker does not report the delay:
// 100 ms, doubled for each run of less than ten seconds, at most a minute.

const firstMs = 100
const longestMs = 60_000
const longRunMs = 10_000

/** `formerMs`: the delay before that run; 0 after a start by a command. Null: unknown. */
export function restartDelay(formerMs: number | null, runMs: number | null): number | null {
  if (runMs !== null && runMs >= longRunMs) return firstMs
  if (formerMs === null) return null
  return formerMs === 0 ? firstMs : Math.min(longestMs, formerMs * 2)
}
