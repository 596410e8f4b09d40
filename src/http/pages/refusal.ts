// Why a form was refused, for its own page: a text above the form or next to the invalid field.
import { codeOf, Failure, TooSoon } from '../../errors.ts'
import { toProblem } from '../pipeline/problem.ts'
import type { Call } from '../pipeline/route.ts'
import type { HeaderList } from '../server/messages.ts'
import { type Html, html } from './html.ts'
import { sentence, waitOf } from './words.ts'

export interface Refusal {
  code: string
  status: number
  headers: HeaderList
  /** Sentences above the form; empty if the errors of the fields are enough. */
  words: string[]
  /** A sentence for each field that will not do, by its name. */
  fields: Map<string, string>
}

/** Rethrows errors that the user did not cause: they are logged and get their own page. */
export function refusalOf(error: unknown, { requestId }: Pick<Call, 'requestId'>): Refusal {
  const { body, headers } = toProblem(error, requestId)
  if (!(error instanceof Failure) || body.status >= 500) throw error
  const fields = new Map(error.details?.map(({ path, message }) => [path, sentence(message)]))
  const words = fields.size > 0 ? [] : wordsOf(error)
  return { code: codeOf(error), status: body.status, headers, words, fields }
}

/** Moves the text of a refusal to a field. */
export function atField(refusal: Refusal, name: string): Refusal {
  return { ...refusal, words: [], fields: new Map([[name, refusal.words.join(' ')]]) }
}

function wordsOf(error: Failure): string[] {
  const words =
    error instanceof TooSoon
      ? [error.message.split(':')[0]!, `try again ${waitOf(error.retryAfterSeconds)}`]
      : [error.message]
  return [...words, ...(error.hint === undefined ? [] : [error.hint])].map(sentence)
}

/** What a page shows above its form. */
export function alertOf(refusal: Refusal | null): Html | null {
  if (!refusal || refusal.words.length === 0) return null
  const [first, ...rest] = refusal.words
  return html`<div class="alert" role="alert"><p><strong>${first!}</strong></p>
${rest.length > 0 && html`<p>${rest.join(' ')}</p>`}</div>`
}
