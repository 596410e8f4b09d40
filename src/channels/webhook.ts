// A webhook by the Standard Webhooks specification: receivers verify the signature, and drop repeats by id.
import { createHmac } from 'node:crypto'
import { webhookSecretPrefix } from '../domain/notification-channels.ts'
import type { Send } from './channel.ts'
import { post } from './post.ts'
import { bodyOf, countsOf, type Message, titleOf } from './text.ts'

export const sendWebhook: Send = ({ url, secret }, message, signal) => {
  const body = JSON.stringify(payloadOf(message))
  const timestamp = String(Math.floor(Date.now() / 1000))
  const headers = {
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${sign(secret!, `${message.id}.${timestamp}.${body}`)}`,
  }
  return post({ url: url!, headers, body, secrets: [secret, new URL(url!).search] }, signal)
}

function sign(secret: string, content: string): string {
  const key = Buffer.from(secret.slice(webhookSecretPrefix.length), 'base64')
  return createHmac('sha256', key).update(content).digest('base64')
}

function payloadOf(message: Message) {
  const { notice, others, mayRepeat, server, url } = message
  return {
    type: others === null ? notice.event : 'summary',
    timestamp: notice.at,
    data: {
      ...notice,
      title: others === null ? notice.title : titleOf(message),
      body: others === null ? notice.body : bodyOf(message),
      server,
      url,
      may_be_repeat: mayRepeat,
      summary: others && { messages: 1 + others.ids.length, ...countsOf(notice, others) },
    },
  }
}
