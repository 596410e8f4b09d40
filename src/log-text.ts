// A line of the daemon's log in readable form: the time, the level, the message, and the fields. Fields
// contain input of clients, which must not be able to move the cursor of a terminal.
import { styleText } from 'node:util'

const levelColumns = 5
const styles = { debug: 'dim', info: 'green', warn: 'yellow', error: 'red', fatal: 'red' } as const

interface Line {
  level: string
  ts: string
  msg?: string
  err?: { message?: string; stack?: string }
  [field: string]: unknown
}

/** `22:16:05 info  berthd listens  url=http://127.0.0.1:7878`, with a line break. */
export function toText(json: string, isColoured: boolean): string {
  const { level, ts, msg = '', err, ...fields } = JSON.parse(json) as Line
  const tint = (style: Parameters<typeof styleText>[0], text: string) =>
    isColoured && text ? styleText(style, text, { validateStream: false }) : text
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${valueText(value)}`)
  const time = new Date(ts).toTimeString().slice(0, 8)
  const heading = tint(styles[level as keyof typeof styles] ?? 'bold', level.padEnd(levelColumns))
  const words = [escapeControls(msg), tint('dim', pairs.join(' '))].filter(Boolean)
  const reason = err ? [`         ${escapeControls(err.message ?? '')}`, ...traceOf(err.stack)] : []
  return `${[`${tint('dim', time)} ${heading} ${words.join('  ')}`, ...reason].join('\n')}\n`
}

function traceOf(stack = ''): string[] {
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line))
  return frames.map((line) => `           ${escapeControls(line.trim())}`)
}

function valueText(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[^\s"]+$/.test(value)
  return escapeControls(isPlain ? value : JSON.stringify(value))
}

/** Escapes control characters, and characters that reorder the text around them. */
function escapeControls(text: string): string {
  return text.replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu, (letter) => {
    return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
