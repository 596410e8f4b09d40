// The secrets of a run, one for each place that takes one, and where they turn up although they must not.
// All hold one marker, so that a secret that was cut short or put into other words is still found.
import { randomBytes } from 'node:crypto'
import { filesWith, formsOf } from '../support/canary.ts'

export interface Secrets {
  /** The same for the same place. */
  at(place: string): string
  /** A secret that is not ours to choose, such as the server's token. */
  add(name: string, text: string): void
  /** What the text gives away; null when it gives nothing away. */
  findIn(text: string): string | null
  /** The files below a folder that hold a secret, as `name: path`. */
  filesBelow(directory: string): string[]
}

export function createSecrets(): Secrets {
  const marker = `cnry${randomBytes(12).toString('hex')}`
  const known = new Map([['a secret', marker]])
  const forms = new Map([['a secret', formsOf(marker)]])
  return {
    // Characters that URLs, JSON and shells write in other ways.
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
