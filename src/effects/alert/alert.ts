// The effects of an alert: its messages, as sentences for people, and its waits.
import type { Announcement, machine } from '../../../machines/alert.ts'
import type { Effects } from '../../../machines/slot.ts'
import { withoutControlSequences } from '../../control-sequences.ts'
import type { Notice, Notify } from '../../domain/notice.ts'
import { awaitExpiry } from '../disk/trash.ts'

export function alertEffects({ notify }: { notify: Notify }): Effects<typeof machine> {
  return {
    announce: (announcement) => notify(noticeOf(announcement)),
    awaitInstant: awaitExpiry,
  }
}

const longestBody = 2000

/** Its id derives from the alert, so that the effect sends no message twice when it starts again. */
export function noticeOf(announcement: Announcement): Notice {
  const { id, what, isFirst, count, at, severity, rule, subject, link } = announcement
  const isSummary = what === 'raised' && !isFirst
  return {
    id: `${id}:${what}${isSummary ? `:${count}:${severity}` : ''}`,
    event: `alert.${what}`,
    at,
    severity,
    code: rule,
    title: clean(titleOf(announcement)),
    body: bodyOf(announcement),
    subject,
    count,
    link,
  }
}

function titleOf({ what, title, count }: Announcement): string {
  if (what === 'acknowledged') return `Acknowledged: ${title}`
  if (what === 'recovered') return `Recovered: ${title}`
  return count > 1 ? `${title} (${count.toLocaleString('en')} times)` : title
}

function bodyOf({ id, what, body, command, count, since }: Announcement): string {
  const counted = count > 1 ? `It happened ${count.toLocaleString('en')} times since ${since}.` : null
  const facts = what === 'acknowledged' ? '' : clean(body).slice(0, longestBody)
  return [facts, command, counted, `berth alerts show ${id}`].filter(Boolean).join('\n')
}

/** Reasons may quote output of programs. Line breaks stay. */
function clean(text: string): string {
  return withoutControlSequences(text).replace(
    /[^\P{Cc}\n]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu,
    '',
  )
}
