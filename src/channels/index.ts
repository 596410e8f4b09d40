// The kinds of channels.
import type { NotificationChannel } from '../../storage/notification-channels.ts'
import type { Send } from './channel.ts'
import { sendDiscord, sendNtfy, sendSlack } from './chat.ts'
import { sendMail } from './smtp.ts'
import { sendWebhook } from './webhook.ts'

const kinds: Record<NotificationChannel['kind'], Send> = {
  webhook: sendWebhook,
  smtp: sendMail,
  slack: sendSlack,
  discord: sendDiscord,
  ntfy: sendNtfy,
}

export const send: Send = (channel, message, signal) => kinds[channel.kind](channel, message, signal)
