// The standard input of job runs: joins the connection of a client to that of the engine. It is in memory
// only, because input cannot be sent again. While a client is lost, the engine's connection stays open: the
// command must not take half an input for all of it.
import type { Duplex } from 'node:stream'
import { waitFor } from '../../async/wait-for.ts'
import type { InteractiveExec, InteractiveOptions } from '../../docker/exec/interactive-exec.ts'
import { conflict, Failure } from '../../errors.ts'

export interface RunInputs {
  /** For the client. Resolves when the command takes input; rejects when the run ends before. */
  connect(id: string, events: Pick<InteractiveOptions, 'ended'>): Promise<InteractiveExec>
  /** Whether a client is connected, or was until the end of its input. */
  has(id: string): boolean
  untilConnected(id: string, signal: AbortSignal): Promise<unknown>
  /** Before the start of the command. */
  attach(id: string, stream: Duplex): void
  /** After its start: input flows. */
  start(id: string): void
  /** Resolves when the command has got all of its input. Rejects with `input_lost`. */
  untilEnded(id: string): Promise<void>
  /** When the run is over. */
  close(id: string): void
}

interface Input {
  stream: Duplex | null
  /** Calls back when the command takes input, or never will. */
  begin(problem?: Error): void
  ended(): void
  /** Settles at the end of the input. */
  over: Promise<void>
  finish(): void
  lose(): void
}

export function createRunInputs(): RunInputs {
  const inputs = new Map<string, Input>()
  const listeners = new Set<() => void>()
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  const lost = () =>
    new Failure(
      'input_lost',
      'the connection that sent its input was cut, so the command was stopped',
      'run it again',
    )
  return {
    connect: (id, { ended }) =>
      new Promise((resolve, reject) => {
        if (inputs.has(id)) return reject(conflict('another client sends the input of this run'))
        let settle = { finish: () => {}, lose: () => {} }
        const over = new Promise<void>((finish, fail) => {
          settle = { finish, lose: () => fail(lost()) }
        })
        over.catch(() => {})
        const input: Input = {
          stream: null,
          over,
          ...settle,
          ended: () => ended(0),
          begin: (problem) => (problem ? reject(problem) : resolve(toExec(input))),
        }
        inputs.set(id, input)
        for (const listener of listeners) listener()
      }),
    has: (id) => inputs.has(id),
    untilConnected: (id, signal) => waitFor(subscribe, () => (inputs.has(id) ? true : null), signal),
    attach(id, stream) {
      const input = inputs.get(id)
      if (!input) throw lost()
      input.stream?.destroy()
      input.stream = stream
        .resume()
        .on('error', () => {})
        .once('close', input.ended)
    },
    start: (id) => inputs.get(id)?.begin(),
    untilEnded: (id) => inputs.get(id)?.over ?? Promise.reject(lost()),
    close(id) {
      const input = inputs.get(id)
      inputs.delete(id)
      input?.begin(conflict('the run ended before it took its input'))
      input?.stream?.destroy()
    },
  }
}

/** A command that has ended, or has closed its input, takes no more: the rest is dropped. */
function toExec({ stream, ended, finish, lose }: Input): InteractiveExec {
  const nothing = () => {}
  return {
    write(bytes, taken) {
      if (stream!.destroyed) taken()
      else stream!.write(bytes, () => taken())
    },
    end() {
      stream!.end(() => {
        finish()
        ended()
      })
    },
    close() {
      if (!stream!.destroyed) lose()
    },
    resize: nothing,
    pause: nothing,
    resume: nothing,
  }
}
