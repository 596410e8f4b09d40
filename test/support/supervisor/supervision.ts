// A supervisor with real storage and the sample machine. Cleans up after the test.
import { rmSync } from 'node:fs'
import type { TestContext } from 'node:test'
import type { KindName } from '../../../machines/index.ts'
import { createLogger, type Logger } from '../../../src/logger.ts'
import type { SupervisorOptions } from '../../../src/supervisor/options.ts'
import { Supervisor } from '../../../src/supervisor/supervisor.ts'
import type { By } from '../../../storage/actors/actors.ts'
import { openStorage, type Storage } from '../../../storage/index.ts'
import { temporaryDirectory } from '../system/directory.ts'
import * as sample from './sample-machine.ts'

export type SampleEffect = (input: { id: string }, signal: AbortSignal) => Promise<{ at: string }>

export const silentLogger: Logger = createLogger({ level: 'silent' })
export const instant = '2026-01-01T00:00:00.000Z'
const timeoutMs = Number(process.env.BERTH_TEST_PATIENCE_MS ?? 120_000)

/** Users of a store, which stop before it closes: lmdb throws from a timer on a late read. */
const users = new WeakMap<object, (() => unknown)[]>()

export async function temporaryStorage(t: TestContext, directory = temporaryDirectory(t)): Promise<Storage> {
  const storage = await openStorage(directory, { onPanic: (reason) => assertNever(reason) })
  // Hooks run in the order of registration, so the close may write files after the folder's own removal.
  users.set(storage, [])
  t.after(async () => {
    for (const stop of users.get(storage)!.reverse()) await stop()
    await storage.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return storage
}

/** A plain hook would run after the close of the store, because hooks run in the order of registration. */
export function stopBeforeClose(t: TestContext, storage: object, stop: () => unknown): void {
  const stops = users.get(storage)
  if (stops) stops.push(stop)
  else t.after(stop)
}

function assertNever(reason: string): never {
  throw new Error(`the store panicked: ${reason}`)
}

export interface Supervised {
  storage: SupervisorOptions['storage']
  logger?: Logger
  now?: () => number
  effects?: { work?: SampleEffect; clean?: SampleEffect }
  version?: number
  migrate?: (snapshot: unknown, from: number) => unknown
  toRecord?: typeof sample.toRecord
  held?: string[]
  readers?: string[]
}

/** A supervisor of the sample machine. Effects succeed at once by default. */
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
    suspects: () => supervisor.suspects(),
    stop: supervisor.stop.bind(supervisor),
    retry: supervisor.retry.bind(supervisor),
    inspect: supervisor.inspect.bind(supervisor),
    running: supervisor.running.bind(supervisor),
  }
}

/** A logger that records errors with their fields. */
export function recordErrors() {
  const errors: [message: string | undefined, fields: unknown][] = []
  const error = (fields: object | string, message?: string) => void errors.push([message, fields])
  return { errors, logger: { ...silentLogger, error } as Logger }
}

/** An effect that waits until the test releases it or it is aborted. */
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

/** Polls until `look` returns a value; fails with `what` after two minutes, or BERTH_TEST_PATIENCE_MS. */
export async function eventually<T>(
  what: string,
  look: () => T | null | undefined | false | Promise<T | null | undefined | false>,
): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const found = await look()
    if (found) return found
    if (Date.now() > deadline) throw new Error(`timed out waiting for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
