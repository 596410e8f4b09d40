// Turns effects (plain async functions) into the promise actors that fill a machine's slots. Every effect is
// fenced, bounded by its deadline, and rejects with plain JSON, because an Error cannot be stored.
import { setTimeout as sleep } from 'node:timers/promises'
import { type AnyStateMachine, fromPromise } from 'xstate'
import type { SlotFailure, SlotInput } from '../../machines/slot.ts'
import type { Hold } from '../../storage/hold.ts'
import { codeOf, Failure, messageOf } from '../errors.ts'
import type { Fences } from './fences.ts'
import type { ForeignReads } from './foreign-reads.ts'
import type { Effect } from './inspection.ts'

type AnyEffect = (input: SlotInput, signal: AbortSignal) => Promise<unknown>

export interface SlotOptions {
  fences: Fences
  now: () => number
  /** Called for an unexpected failure (a bug), with its stack. */
  onBug: (slot: string, actorId: string, error: unknown) => void
  /** Called when an effect begins, and when it has ended. An aborted one may end late. */
  onEffect: (actorId: string, effect: Effect) => void
  /** How long an effect may take to settle after its deadline; 10 s by default. */
  graceMs?: number
  /** Aborted when the supervisor stops. */
  halt?: AbortSignal
  cleanups?: readonly string[]
  /** Slots that wait until the server is active. */
  held?: { slots: readonly string[]; hold: Hold }
  /** Slots whose effects read foreign input. They run on record. */
  readers?: { slots: readonly string[]; reads: ForeignReads }
  /** True while actors are restored at a start: deadlines that passed during the downtime are extended. */
  isRestoring?: () => boolean
}

/** The minimum time of an effect that restarts with the daemon. */
const minAfterRestoreMs = 30_000
/** Prefix of messages about bugs in Berth, so that users do not look for them in their own code. */
const internalPrefix = 'internal: '
const storeRetryDelayMs = 1000
/** The longest delay of a Node timer. A longer one would fire immediately. */
const maxTimerMs = 2 ** 31 - 1

/** Fills all slots of a machine. Throws at the start when a slot has no effect. */
export function fillSlots(machine: AnyStateMachine, effects: object, options: SlotOptions): AnyStateMachine {
  const filled = Object.keys(machine.implementations.actors).map((name) => {
    const effect = (effects as Record<string, AnyEffect>)[name]
    if (!effect) throw new Error(`the machine ${machine.id} has no effect for its slot ${name}`)
    return [name, toPromiseActor(name, effect, options)] as const
  })
  return machine.provide({ actors: Object.fromEntries(filled) })
}

function toPromiseActor(name: string, effect: AnyEffect, options: SlotOptions) {
  const { fences, now, onBug, onEffect, halt, cleanups = [], held, readers, isRestoring } = options
  return fromPromise<unknown, SlotInput>(async ({ input: requested, signal }) => {
    const waits = held?.slots.includes(name) === true && held.hold.get() !== null
    if (waits) await held.hold.released(signal)
    const input = waits || isRestoring?.() ? withTimeLeft(requested, now()) : requested
    onEffect(input.id, { name, outcome: 'started', code: null })
    try {
      const { late } = await fences.pass(input.id)
      signal.throwIfAborted()
      // An effect that outlived its abort and the fence may leave objects behind: clean up again at its end.
      if (late && cleanups.includes(name))
        void late.then(() => run(name, effect, input, halt, options)).catch(() => {})
      const attempt = (timed: SlotInput) => run(name, effect, timed, signal, options)
      const isReader = readers?.slots.includes(name)
      const output = await retryFailedCommits(
        () => (isReader ? readers!.reads.run(name, input, signal, attempt) : attempt(input)),
        signal,
      )
      onEffect(input.id, { name, outcome: signal.aborted ? 'aborted' : 'done', code: null })
      return { at: isoOf(now()), ...(output as object | undefined) }
    } catch (error) {
      if (codeOf(error) === 'internal_error' && !signal.aborted) onBug(name, input.id, error)
      const failure = toFailure(error, now())
      const outcome = signal.aborted ? 'aborted' : 'failed'
      onEffect(input.id, { name, outcome, code: signal.aborted ? null : failure.code })
      throw failure
    }
  })
}

/** A store that cannot write is not the effect's fault: the effect starts again, as after a restart. */
async function retryFailedCommits<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (codeOf(error) !== 'commit_failed') throw error
      await sleep(storeRetryDelayMs, undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  }
}

function run(
  slot: string,
  work: AnyEffect,
  input: SlotInput,
  given: AbortSignal | undefined,
  options: SlotOptions,
) {
  const { fences, now, graceMs = 10_000 } = options
  const signal = given ?? new AbortController().signal
  if (input.deadlineAt === undefined) return fences.guard(input.id, signal, work(input, signal))
  const deadline = startDeadline(slot, input.deadlineAt - now(), graceMs)
  const either = AbortSignal.any([signal, deadline.signal])
  const guarded = fences.guard(input.id, either, work(input, either))
  return Promise.race([guarded, deadline.passed]).finally(deadline.clear)
}

/** The downtime of the daemon does not count against the effect's deadline. */
function withTimeLeft(input: SlotInput, nowMs: number): SlotInput {
  if (input.deadlineAt === undefined) return input
  return { ...input, deadlineAt: Math.max(input.deadlineAt, nowMs + minAfterRestoreMs) }
}

/** Aborts at the deadline, and stops waiting for an effect that does not settle after its abort. */
function startDeadline(slot: string, remainingMs: number, graceMs: number) {
  const waitMs = Math.min(Math.max(0, remainingMs), maxTimerMs - graceMs)
  const failure = new Failure('timeout', `${slot} took longer than its limit`)
  const controller = new AbortController()
  const timers: NodeJS.Timeout[] = []
  const passed = new Promise<never>((_, reject) => {
    timers.push(
      setTimeout(() => controller.abort(failure), waitMs),
      setTimeout(() => reject(failure), waitMs + graceMs),
    )
  })
  passed.catch(() => undefined)
  return { signal: controller.signal, passed, clear: () => timers.forEach(clearTimeout) }
}

const isoOf = (ms: number) => new Date(ms).toISOString()

function toFailure(error: unknown, nowMs: number): SlotFailure {
  const code = codeOf(error)
  const message = messageOf(error)
  const text = code === 'internal_error' ? `${internalPrefix}${message}` : message
  const details = error instanceof Failure ? error.facts : undefined
  return { code, message: text, ...(details && { details }), at: isoOf(nowMs) }
}

/** Turns the failure of an effect back into an error with its code and original message. */
export function toError(failure: unknown): unknown {
  const { code, message, details } = (failure ?? {}) as Partial<SlotFailure>
  if (failure instanceof Error || code === undefined || message === undefined) return failure
  const original = code === 'internal_error' ? message.slice(internalPrefix.length) : message
  const error = new Failure(code, original)
  return details ? error.with(details) : error
}
