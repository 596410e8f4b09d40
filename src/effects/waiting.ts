// Waiting for facts: committed changes, instants, an engine that comes back. Every wait ends with its signal.
import { setTimeout as pause } from 'node:timers/promises'
import type { ChangeFeed } from '../../storage/changes.ts'
import { codeOf, messageOf } from '../errors.ts'
import type { Host } from './host.ts'

/** Looks now and after every change of that service, until `look` has an answer. */
export async function untilCommitted<T>(
  changes: ChangeFeed,
  serviceId: string,
  signal: AbortSignal,
  look: () => T | null,
): Promise<T> {
  const answer = look()
  if (answer !== null) return answer
  return new Promise<T>((resolve, reject) => {
    const unsubscribe = changes.subscribe((change) => {
      if (change.service_id !== serviceId) return
      try {
        const found = look()
        if (found !== null) settle(() => resolve(found))
      } catch (error) {
        settle(() => reject(error))
      }
    })
    const onAbort = () => settle(() => reject(signal.reason))
    const settle = (outcome: () => void) => {
      unsubscribe()
      signal.removeEventListener('abort', onAbort)
      outcome()
    }
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
  })
}

/** Rejects with the signal's own reason, which says why: a deadline, a cancel, a stop. */
export async function sleep(durationMs: number, signal: AbortSignal): Promise<void> {
  await pause(durationMs, undefined, { signal }).catch(() => signal.throwIfAborted())
}

/**
 * Resolves when the listener handed to `listen` is called, or after the time; rejects with the signal.
 * Nothing of it stays on the signal: a live deploy waits like this for years.
 */
export async function untilNudged(
  listen: (listener: () => void) => void,
  withinMs: number,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  let settle = () => {}
  const nudged = new Promise<void>((resolve) => {
    settle = resolve
  })
  const timer = setTimeout(settle, withinMs)
  signal.addEventListener('abort', settle)
  listen(settle)
  await nudged
  clearTimeout(timer)
  signal.removeEventListener('abort', settle)
  signal.throwIfAborted()
}

/** Until the engine answers; one that takes its time is told of. */
export async function waitForEngine(
  host: Host,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<void> {
  const patience = setTimeout(() => say('waiting for the Docker engine, which does not answer'), 1000)
  try {
    await host.ready(signal)
  } finally {
    clearTimeout(patience)
  }
}

/** Does idempotent work, again from the start whenever the engine went away in the middle. */
export async function whileEngineReturns<T>(
  host: Host,
  signal: AbortSignal,
  work: () => Promise<T>,
  onAway: () => void = () => undefined,
): Promise<T> {
  for (;;) {
    signal.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      if (codeOf(error) !== 'docker_unavailable') throw error
      signal.throwIfAborted()
      onAway()
      await sleep(1000, signal)
      await host.ready(signal)
    }
  }
}

/**
 * Cleans up until it is done, whatever Docker refuses meanwhile: a trace that stays is somebody's disk or
 * address.
 */
export async function untilDone(host: Host, id: string, signal: AbortSignal, work: () => Promise<void>) {
  let told: string | null = null
  for (let pauseMs = 250; ; pauseMs = Math.min(30_000, pauseMs * 2)) {
    try {
      return await whileEngineReturns(host, signal, work)
    } catch (error) {
      signal.throwIfAborted()
      if (codeOf(error) !== 'docker_error') throw error
      const reason = messageOf(error)
      if (reason !== told) host.logger.warn({ actor: id, reason }, 'Docker refuses a cleanup; trying on')
      told = reason
      await sleep(pauseMs, signal)
    }
  }
}
