// A slot is a named effect that a chart declares and src/effects/ fills.
// `.provide()` ignores an unfilled slot: `Slots<M>` makes it a compile error, the placeholder rejects.
import { type AnyStateMachine, fromPromise, type PromiseActorLogic } from 'xstate'

/** `id` is the actor's. All inputs are plain JSON; deadlines are timestamps. */
export interface SlotInput {
  id: string
  /** The effect is aborted after this instant (ms since 1970). */
  deadlineAt?: number
}

/** Every output has the time at which the effect ended, because charts have no clock. */
export interface SlotOutput {
  at: string
}

/** Further data for programs in addition to the code, such as `{ port: 3000 }`. */
export type ProblemDetails = Readonly<Record<string, string | number>>

export interface SlotFailure {
  code: string
  message: string
  details?: ProblemDetails
  at: string
}

/** The failure of the effect whose end is handled. */
export const failureOf = ({ event }: { event: object }) => (event as { error: SlotFailure }).error

/** A typed placeholder that rejects when it was never provided. */
export function slot<Input extends SlotInput, Output extends SlotOutput>(): PromiseActorLogic<Output, Input> {
  return fromPromise<Output, Input>(({ input }) =>
    Promise.reject(new Error(`no effect was provided for a slot of ${input.id}`)),
  )
}

export type Slots<M extends AnyStateMachine> = Required<
  NonNullable<NonNullable<Parameters<M['provide']>[0]>['actors']>
>

/**
 * An effect takes plain input and an abort signal, and returns plain output. The supervisor adds `at`, the
 * time at which it ended. An effect returns its own where another time counts.
 */
export type Effect<Input, Output> = (input: Input, signal: AbortSignal) => Promise<WithOptionalAt<Output>>

type WithOptionalAt<Output> = Output extends SlotOutput
  ? keyof Output extends 'at'
    ? unknown
    : Omit<Output, 'at'> & Partial<SlotOutput>
  : never

/** The effects for all slots of a machine, as src/effects/ exports them. The supervisor wraps them. */
export type Effects<M extends AnyStateMachine> = {
  [Name in keyof Slots<M>]: Slots<M>[Name] extends PromiseActorLogic<infer Output, infer Input>
    ? Effect<Input, Output>
    : never
}
