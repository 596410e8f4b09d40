// A supervisor over real storage, with a catalogue of one kind, for tests. Cleans up after the test.
import { rmSync } from 'node:fs'
import type { TestContext } from 'node:test'
import type { KindName } from '../../machines/index.ts'
import { createLogger, type Logger } from '../../src/logger.ts'
import { Supervisor } from '../../src/supervisor/supervisor.ts'
import type { By } from '../../storage/actors/actors.ts'
import { openStorage, type Storage } from '../../storage/index.ts'
import { temporaryDirectory } from './directory.ts'
import * as sample from './sample-machine.ts'

export type SampleEffect = (input: { id: string }, signal: AbortSignal) => Promise<{ at: string }>

export const silentLogger = createLogger({ level: 'silent' })
export const instant = '2026-01-01T00:00:00.000Z'
const patienceMs = Number(process.env.BERTH_TEST_PATIENCE_MS ?? 120_000)

/** What uses a store, to be stopped before it closes: lmdb throws from a timer at a late read. */
const users = new WeakMap<object, (() => unknown)[]>()

export async function temporaryStorage(t: TestContext, directory = temporaryDirectory(t)): Promise<Storage> {
  const storage = await openStorage(directory, { onPanic: (reason) => assertNever(reason) })
  // Hooks run in the order they were made: what is written at the close comes after the folder's own removal.
  users.set(storage, [])
  t.after(async () => {
    for (const stop of users.get(storage)!.reverse()) await stop()
    await storage.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return storage
}

/** Hooks run in the order they were made, so this one would run after the close of the store. */
export function stopBeforeClose(t: TestContext, storage: object, stop: () => unknown): void {
  const stops = users.get(storage)
  if (stops) stops.push(stop)
  else t.after(stop)
}

function assertNever(reason: string): never {
  throw new Error(`the store panicked: ${reason}`)
}

export interface Supervised {
  storage: Pick<Storage, 'actors' | 'events'>
  logger?: Logger
  now?: () => number
  effects?: { work?: SampleEffect; clean?: SampleEffect }
  version?: number
  migrate?: (snapshot: unknown, from: number) => unknown
  toRecord?: typeof sample.toRecord
}

/** A supervisor of samples. Effects that are not given succeed at once. */
export function superviseSamples(t: TestContext, options: Supervised) {
  const { storage, effects = {}, logger = silentLogger, now = Date.now, ...kind } = options
  const supervisor = new Supervisor({ storage, catalogue: { sample: { ...sample, ...kind } }, logger, now })
  const succeed: SampleEffect = async () => ({ at: instant })
  supervisor.provide({ sample: { work: effects.work ?? succeed, clean: effects.clean ?? succeed } })
  stopBeforeClose(t, storage, () => supervisor.stop(1000))
  const spawn = (id: string, input: object = {}, options?: { eventId?: string }) =>
    supervisor.spawn('sample' as KindName, id, { id, ...input }, options)
  return {
    spawn,
    preview: (id: string, by: By) => supervisor.preview('sample' as KindName, id, { id }, { by }),
    send: supervisor.send.bind(supervisor),
    restore: supervisor.restore.bind(supervisor),
    stop: supervisor.stop.bind(supervisor),
  }
}

/** A logger that keeps the errors it is told: their words and what they are about. */
export function recordErrors() {
  const errors: [message: string | undefined, fields: unknown][] = []
  const error = (fields: object | string, message?: string) => void errors.push([message, fields])
  return { errors, logger: { ...silentLogger, error } as Logger }
}

/** An effect that waits until the test lets it go on, or until it is aborted. */
export function heldEffect() {
  let release: (() => void) | null = null
  let begun: () => void = () => undefined
  const started = new Promise<void>((resolve) => {
    begun = resolve
  })
  const effect: SampleEffect = (_, signal) =>
    new Promise((resolve, reject) => {
      release = () => resolve({ at: instant })
      signal.addEventListener('abort', () => reject(signal.reason))
      begun()
    })
  return { effect, started, release: () => release?.() }
}

/** Looks again until `look` answers something; fails with `what` after two minutes, or as the run says. */
export async function eventually<T>(what: string, look: () => T | null | undefined | false): Promise<T> {
  const deadline = Date.now() + patienceMs
  for (;;) {
    const found = look()
    if (found) return found
    if (Date.now() > deadline) throw new Error(`it did not happen in time: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
