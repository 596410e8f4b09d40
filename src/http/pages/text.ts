// Formats sentences and relative times for the pages.
import { type Html, html } from './html.ts'

/** Converts an error message, which is a clause, to a sentence. */
export function toSentence(text: string): string {
  const start = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?…]$/.test(start) ? start : `${start}.`
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
