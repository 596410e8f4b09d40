// Counts of the responses by operation and status.
import type { Sent } from './player.ts'

export interface Tally {
  count(sent: Sent): void
  readonly requests: number
  /** The count of each `GET /api/v1/services/{id} 200`. */
  readonly answers: ReadonlyMap<string, number>
}

export function createTally(): Tally {
  const answers = new Map<string, number>()
  let requests = 0
  return {
    answers,
    get requests() {
      return requests
    },
    count({ method, target, answer }) {
      requests++
      const what = target === '' ? 'bytes' : `${method} ${shapeOf(target)}`
      const key = `${what} ${answer?.status ?? 'silence'}`
      answers.set(key, (answers.get(key) ?? 0) + 1)
    },
  }
}

/** The path without its parameters. */
function shapeOf(target: string): string {
  const path = target.split('?')[0]!
  const nouns = 'services|deploys|registries|sessions|tokens|certificates|datastores|auth/cli'
  return path.replace(new RegExp(`/(${nouns})/[^/]+`), '/$1/{}')
}
