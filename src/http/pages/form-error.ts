// Why a form was refused, for its own page: a text above the form or next to the invalid field.
import { codeOf, Failure, RetryLater } from '../../errors.ts'
import { toProblem } from '../pipeline/problem.ts'
import type { Call } from '../pipeline/route.ts'
import type { HeaderList } from '../server/messages.ts'
import { type Html, html } from './html.ts'
import { markedUp, relativeWait, toSentence } from './text.ts'

export interface FormError {
  code: string
  status: number
  headers: HeaderList
  /** Sentences above the form; empty if the errors belong to fields. */
  messages: string[]
  /** A sentence for each invalid field, by field name. */
  fields: Map<string, string>
}

/** Rethrows errors that the user did not cause: they are logged and get their own page. */
export function toFormError(error: unknown, { requestId }: Pick<Call, 'requestId'>): FormError {
  const { body, headers } = toProblem(error, requestId)
  if (!(error instanceof Failure) || body.status >= 500) throw error
  const fields = new Map(error.details?.map(({ path, message }) => [path, toSentence(message)]))
  const messages = fields.size > 0 ? [] : messagesOf(error)
  return { code: codeOf(error), status: body.status, headers, messages, fields }
}

/** Shows the messages at a field instead of above the form. */
export function moveToField(formError: FormError, name: string): FormError {
  return { ...formError, messages: [], fields: new Map([[name, formError.messages.join(' ')]]) }
}

function messagesOf(error: Failure): string[] {
  const messages =
    error instanceof RetryLater
      ? [error.message.split(':')[0]!, `try again ${relativeWait(error.retryAfterSeconds)}`]
      : [error.message]
  return [...messages, ...(error.hint === undefined ? [] : [error.hint])].map(toSentence)
}

export function alertOf(formError: FormError | null): Html | null {
  if (!formError || formError.messages.length === 0) return null
  const [first, ...rest] = formError.messages
  return html`<div class="alert" role="alert"><p><strong>${markedUp(first!)}</strong></p>
${rest.length > 0 && html`<p>${markedUp(rest.join(' '))}</p>`}</div>`
}
