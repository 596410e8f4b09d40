// Formats sentences and relative times for the pages.
import { type Html, html } from './html.ts'

/** Converts an error message, which is a clause, to a sentence. */
export function toSentence(text: string): string {
  const start = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?…]$/.test(start) ? start : `${start}.`
}

const command = /\bberthd reset-password\b/
const name = /(?<![\w/.-])[a-z]+(?:_[a-z]+)+(?![\w/-])/
const address = /(?<![\w/.-])\/(?:account|docs)(?![\w/-])/
const marks = new RegExp(`(${command.source}|${name.source}|${address.source})`)

/** A text with commands and names with an underscore as code, and with links to the pages that it names. */
export function markedUp(text: string): Html {
  const parts = text.split(marks).map((part, index) => {
    if (index % 2 === 0) return part
    return part.startsWith('/') ? html`<a href="${part}">${part}</a>` : html`<code>${part}</code>`
  })
  return html`${parts}`
}

const counted = new Intl.RelativeTimeFormat('en')
const dated = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })
const units = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** `3 minutes ago`, `in 29 days` or `just now`, with the exact time as a tooltip. */
export function relativeTime(timestamp: string): Html {
  const at = new Date(timestamp)
  const distance = formatDistance((at.getTime() - Date.now()) / 1000)
  return html`<time datetime="${timestamp}" title="${dated.format(at)} UTC">${distance}</time>`
}

function formatDistance(seconds: number): string {
  const unit = units.find(([, size]) => Math.abs(seconds) >= size)
  if (unit) return counted.format(Math.round(seconds / unit[1]), unit[0])
  return seconds <= 0 ? 'just now' : 'in less than a minute'
}

/** `in 40 seconds` or `in 4 minutes`, rounded up. */
export function relativeWait(seconds: number): string {
  return seconds < 60 ? counted.format(seconds, 'second') : counted.format(Math.ceil(seconds / 60), 'minute')
}
