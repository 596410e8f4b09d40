// A failure in three parts: what failed, why, and what to do next.
import { MissingPrerequisite } from '../support/system/missing-prerequisite.ts'

export class Trouble extends Error {
  readonly what: string
  readonly next: string

  constructor(what: string, why: string, next: string) {
    super(why)
    this.what = what
    this.next = next
  }
}

/** Converts any error. The later lines of a `MissingPrerequisite` are its advice. */
export function toProblem(error: unknown, what: string, next: string): Trouble {
  if (error instanceof Trouble) return error
  if (!(error instanceof MissingPrerequisite)) return new Trouble(what, reasonOf(error), next)
  const [why = '', ...advice] = error.message.split('\n')
  return new Trouble(what, why, advice.length > 0 ? advice.join('\n') : next)
}

/** fetch only reports that it failed; the reason is in its cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `${error.message}${cause}`
}
