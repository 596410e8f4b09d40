// The secrets of a run, one per place that takes one, and the search for leaks.
// All contain the same marker, so that truncated or re-encoded secrets are found too.
import { randomBytes } from 'node:crypto'
import { filesWith, formsOf } from '../support/storage/canary.ts'

export interface Secrets {
  /** The same secret for the same place. */
  at(place: string): string
  /** Adds a secret that the test cannot choose, such as the server's token. */
  add(name: string, text: string): void
  /** The secret that the text contains, or null. */
  findIn(text: string): string | null
  /** The files below a folder that contain a secret, as `name: path`. */
  filesBelow(directory: string): string[]
}

export function createSecrets(): Secrets {
  const marker = `cnry${randomBytes(12).toString('hex')}`
  const known = new Map([['a secret', marker]])
  const forms = new Map([['a secret', formsOf(marker)]])
  return {
    // Characters that URLs, JSON and shells encode.
    at: (place) => `${marker}-${place}"\\é%$'&`,
    add(name, text) {
      known.set(name, text)
      forms.set(name, formsOf(text))
    },
    findIn(text) {
      for (const [name, spellings] of forms) if (spellings.some((form) => text.includes(form))) return name
      return null
    },
    filesBelow: (directory) =>
      [...known].flatMap(([name, text]) => filesWith(directory, text).map((path) => `${name}: ${path}`)),
  }
}
