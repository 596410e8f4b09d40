// What goes wrong, in three sentences: what, why, and what to do about it.
import { MissingPrerequisite } from '../support/missing-prerequisite.ts'

export class Trouble extends Error {
  readonly what: string
  readonly next: string

  constructor(what: string, why: string, next: string) {
    super(why)
    this.what = what
    this.next = next
  }
}

/** Whatever was thrown, as trouble. `Unprepared` says in its later lines what to do. */
export function toTrouble(error: unknown, what: string, next: string): Trouble {
  if (error instanceof Trouble) return error
  if (!(error instanceof MissingPrerequisite)) return new Trouble(what, reasonOf(error), next)
  const [why = '', ...advice] = error.message.split('\n')
  return new Trouble(what, why, advice.length > 0 ? advice.join('\n') : next)
}

/** fetch says only that it failed; the reason is in its cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `${error.message}${cause}`
}
