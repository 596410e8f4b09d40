// Turns effects (plain async functions) into the promise actors that fill a machine's slots.
// Every effect is fenced, bounded by its deadline, and rejects with plain JSON: an Error does not
// survive storage.
import { setTimeout as sleep } from 'node:timers/promises'
import { type AnyStateMachine, fromPromise } from 'xstate'
import type { SlotFailure, SlotInput } from '../../machines/slot.ts'
import { codeOf, Failure, messageOf } from '../errors.ts'
import type { Fences } from './fences.ts'

type AnyEffect = (input: SlotInput, signal: AbortSignal) => Promise<unknown>

export interface SlotOptions {
  fences: Fences
  now: () => number
  /** A failure nobody foresaw (a bug), with its stack. */
  onBug: (slot: string, actorId: string, error: unknown) => void
  /** How long an effect may take to settle by itself after its deadline; ten seconds. */
  graceMs?: number
  /** Aborted when the supervisor stops. */
  halt?: AbortSignal
  /** Slots whose work is done once more when an effect before them ended late. */
  cleanups?: readonly string[]
  /** While a restart of the daemon brings actors back, a deadline that passed meanwhile leaves some time. */
  isRestoring?: () => boolean
}

/** What an effect gets at least when it begins again with the daemon. */
const leastAfterRestoreMs = 30_000
/** Failures that are bugs of ours begin with it, so that nobody looks for them in their own code. */
const bugPrefix = 'internal: '
/** How long an effect waits for a store that cannot write. */
const storePauseMs = 1000
/** The longest time a timer of Node's can wait; a longer one would fire at once. */
const longestMs = 2 ** 31 - 1

/** Fills all slots of a machine. Throws when one has no effect: that is a bug of the build, found at boot. */
export function fillSlots(machine: AnyStateMachine, effects: object, options: SlotOptions): AnyStateMachine {
  const filled = Object.keys(machine.implementations.actors).map((name) => {
    const effect = (effects as Record<string, AnyEffect>)[name]
    if (!effect) throw new Error(`the machine ${machine.id} has no effect for its slot ${name}`)
    return [name, toPromiseActor(name, effect, options)] as const
  })
  return machine.provide({ actors: Object.fromEntries(filled) })
}

function toPromiseActor(name: string, effect: AnyEffect, options: SlotOptions) {
  const { fences, now, onBug, halt, cleanups = [], isRestoring } = options
  return fromPromise<unknown, SlotInput>(async ({ input: asked, signal }) => {
    const input = isRestoring?.() ? withTimeLeft(asked, now()) : asked
    try {
      const { late } = await fences.pass(input.id)
      signal.throwIfAborted()
      // An effect that outlived its abort and the fence may leave something behind: look again when it ends.
      if (late && cleanups.includes(name))
        void late.then(() => run(name, effect, input, halt, options)).catch(() => {})
      return await untilStored(() => run(name, effect, input, signal, options), signal)
    } catch (error) {
      if (codeOf(error) === 'internal_error' && !signal.aborted) onBug(name, input.id, error)
      throw toFailure(error, now())
    }
  })
}

/** A store that cannot write is no fault of the effect: it begins again, as it does after a restart. */
async function untilStored<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (codeOf(error) !== 'commit_failed') throw error
      await sleep(storePauseMs, undefined, { signal }).catch(() => signal.throwIfAborted())
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

/** The time the daemon was away is not the effect's fault. */
function withTimeLeft(input: SlotInput, nowMs: number): SlotInput {
  if (input.deadlineAt === undefined) return input
  return { ...input, deadlineAt: Math.max(input.deadlineAt, nowMs + leastAfterRestoreMs) }
}

/** Aborts at the deadline, and gives up on an effect that does not settle after its abort. */
function startDeadline(slot: string, remainingMs: number, graceMs: number) {
  const waitMs = Math.min(Math.max(0, remainingMs), longestMs - graceMs)
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

function toFailure(error: unknown, nowMs: number): SlotFailure {
  const code = codeOf(error)
  const message = messageOf(error)
  const text = code === 'internal_error' ? `${bugPrefix}${message}` : message
  const facts = error instanceof Failure ? error.facts : undefined
  return { code, message: text, ...(facts && { details: facts }), at: new Date(nowMs).toISOString() }
}

/** What an effect failed with, as an error again: with its code, and its words as they were. */
export function toError(failure: unknown): unknown {
  const { code, message, details } = (failure ?? {}) as Partial<SlotFailure>
  if (failure instanceof Error || code === undefined || message === undefined) return failure
  const words = code === 'internal_error' ? message.slice(bugPrefix.length) : message
  const error = new Failure(code, words)
  return details ? error.with(details) : error
}
