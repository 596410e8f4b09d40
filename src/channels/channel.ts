// What a channel of any kind sends, and how it says that it could not.
import type { NotificationChannel } from '../../storage/notification-channels.ts'
import { Failure } from '../errors.ts'
import type { Message } from './text.ts'

/** Resolves with the status of the answer. Throws `channel_unreachable`, `message_rejected`. */
export type Send = (channel: NotificationChannel, message: Message, signal: AbortSignal) => Promise<number>

const maxExcerptChars = 200

/** The start of an answer on one line. The receiver may repeat a secret that it was sent. */
export function excerptOf(answer: string, secrets: readonly (string | null)[]): string {
  const masked = secrets.reduce<string>(
    (rest, secret) => (secret ? rest.replaceAll(secret, '***') : rest),
    answer,
  )
  return masked
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, maxExcerptChars)
}

export function unreachable(text: string, { mayHaveArrived = false } = {}): Failure {
  const failure = new Failure('channel_unreachable', text)
  return mayHaveArrived ? failure.with({ may_have_arrived: 1 }) : failure
}
