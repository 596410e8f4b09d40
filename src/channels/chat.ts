// Incoming webhooks of Slack and Discord, whose addresses are secrets, and topics of ntfy.
import { type NoticeSeverity, urgencyOf } from '../domain/notice.ts'
import type { Send } from './channel.ts'
import { post } from './post.ts'
import { bodyOf, clipped, titleOf } from './text.ts'

const slackChars = 3000
/** Discord refuses longer messages. */
const discordChars = 2000
const ntfyChars = 3500

export const sendSlack: Send = ({ url }, message, signal) => {
  const text = clipped(`${titleOf(message)}\n${bodyOf(message)}`, slackChars)
  // Slack reads <…> as a mention or a link.
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return post(
    { url: url!, body: JSON.stringify({ text: escaped }), secrets: [new URL(url!).pathname] },
    signal,
  )
}

export const sendDiscord: Send = ({ url }, message, signal) => {
  const content = clipped(`${titleOf(message)}\n${bodyOf(message)}`, discordChars)
  const body = JSON.stringify({ content, allowed_mentions: { parse: [] } })
  return post({ url: url!, body, secrets: [new URL(url!).pathname] }, signal)
}

const priorities: Record<NoticeSeverity, number> = { info: 2, warning: 3, problem: 4 }

/** As JSON, because headers cannot hold every title. */
export const sendNtfy: Send = ({ url, topic, secret }, message, signal) => {
  const body = JSON.stringify({
    topic,
    title: clipped(titleOf(message), 250),
    message: clipped(bodyOf(message), ntfyChars),
    priority: priorities[urgencyOf(message.notice)],
    ...(message.url && { click: message.url }),
  })
  const headers = secret === null ? {} : { authorization: `Bearer ${secret}` }
  return post({ url: url!, headers, body, secrets: [secret, topic] }, signal)
}
