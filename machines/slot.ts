// A slot is a named effect that a chart asks for and src/effects/ fills.
// `.provide()` does not notice an unfilled slot; `Slots<M>` makes it a compile error, the placeholder a
// loud one.
import { type AnyStateMachine, fromPromise, type PromiseActorLogic } from 'xstate'

/** Every effect knows whose it is: `id` is the actor's. The rest is plain JSON, deadlines are timestamps. */
export interface SlotInput {
  id: string
  /** After this instant (ms since 1970) the effect is given up, whatever it does. */
  deadlineAt?: number
}

/** Every result says when it was there, because charts have no clock. */
export interface SlotOutput {
  at: string
}

/** What a program may need to know besides the code, such as `{ port: 3000 }`. */
export type ProblemDetails = Readonly<Record<string, string | number>>

/** What an effect rejects with. */
export interface SlotFailure {
  code: string
  message: string
  details?: ProblemDetails
  at: string
}

/** A typed placeholder that rejects when it was never provided. */
export function slot<Input extends SlotInput, Output extends SlotOutput>(): PromiseActorLogic<Output, Input> {
  return fromPromise<Output, Input>(({ input }) =>
    Promise.reject(new Error(`no effect was provided for a slot of ${input.id}`)),
  )
}

/** All slots of a machine, each required. */
export type Slots<M extends AnyStateMachine> = Required<
  NonNullable<NonNullable<Parameters<M['provide']>[0]>['actors']>
>

/** What an effect is: plain input and an abort signal in, plain output out. */
export type Effect<Input, Output> = (input: Input, signal: AbortSignal) => Promise<Output>

/**
 * The effects that fill all slots of a machine: what src/effects/ exports, before the supervisor wraps them.
 */
export type Effects<M extends AnyStateMachine> = {
  [Name in keyof Slots<M>]: Slots<M>[Name] extends PromiseActorLogic<infer Output, infer Input>
    ? Effect<Input, Output>
    : never
}
