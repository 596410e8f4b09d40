// The title and the icon of a browser tab.
import type { Tone } from '../look/tone.ts'

const signs: Record<Tone, string> = {
  waiting: '○',
  working: '◐',
  healthy: '●',
  unhealthy: '▲',
  failed: '■',
  stopped: '▬',
  parked: '⬣',
}

export function titleOf(title: string, tone?: Tone): string {
  return tone ? `${signs[tone]} ${title}` : `${title} · Berth`
}

const ring = '<circle cx="8" cy="8" r="6" fill="none" stroke-width="3.5"'
/** In colors that are clear on light and on dark tabs. */
const icons = {
  working:
    `<g stroke="#2a9aa3">${ring} opacity=".35"/>` +
    '<path d="M8 2A6 6 0 0 1 14 8" fill="none" stroke-width="3.5"/></g>',
  healthy: '<circle cx="8" cy="8" r="7.5" fill="#2e9e62"/>',
  failed: '<path d="M1 1H15V15H10L8 11.5 6 15H1Z" fill="#d9503f"/>',
}

/** One of four. */
export function iconOf(tone?: Tone): string {
  if (tone === 'working' || tone === 'healthy') return toAddress(icons[tone])
  if (tone === 'unhealthy' || tone === 'failed' || tone === 'parked') return toAddress(icons.failed)
  return '/berth.svg'
}

function toAddress(shapes: string): string {
  const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${shapes}</svg>`
  return `data:image/svg+xml,${encodeURIComponent(picture)}`
}
