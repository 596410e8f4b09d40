// The text of a message, for people. Each kind of channel adds only its own form.
import { type Notice, type NoticeSeverity, urgencyOf } from '../domain/notice.ts'
import { count } from '../quantities.ts'

export interface Message {
  /** The same for each sending. */
  id: string
  notice: Notice
  /** Other messages that this one stands for; null for none. */
  others: { ids: string[]; problems: number; warnings: number; infos: number; titles: string[] } | null
  /** An earlier sending may have arrived. */
  mayRepeat: boolean
  /** The name of the server. */
  server: string
  /** The page that shows more; null without one. */
  url: string | null
}

/** One line. */
export function titleOf({ notice, others, server }: Message): string {
  const label = notice.event === 'alert.raised' ? `[${notice.severity}] ` : ''
  if (others === null) return label + oneLine(notice.title)
  const { problem, warning, info } = countsOf(notice, others)
  const parts = [
    problem && count(problem, 'problem'),
    warning && count(warning, 'warning'),
    info && count(info, 'note'),
  ]
  return `${1 + others.ids.length} messages of ${server}: ${parts.filter(Boolean).join(', ')}`
}

export function countsOf(
  notice: Notice,
  { problems, warnings, infos }: NonNullable<Message['others']>,
): Record<NoticeSeverity, number> {
  const counts = { problem: problems, warning: warnings, info: infos }
  const urgency = urgencyOf(notice)
  return { ...counts, [urgency]: counts[urgency] + 1 }
}

/** Below the title. */
export function bodyOf({ notice, others, mayRepeat, server, url }: Message): string {
  const repeat = mayRepeat ? '(This message may be a repeat.)' : null
  const parts = others === null ? [notice.body, `Server: ${server}`] : listOf(notice, others)
  return [...parts, url, repeat].filter(Boolean).join('\n\n')
}

function listOf({ title }: Notice, { ids, titles }: NonNullable<Message['others']>): string[] {
  const shown = [title, ...titles].map((one) => `- ${oneLine(one)}`)
  const hidden = ids.length - titles.length
  return [[...shown, ...(hidden > 0 ? [`- and ${hidden} more`] : [])].join('\n'), 'berth alerts']
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()
}

/** Cut at the end if it is too long for the channel. */
export function clipped(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
