// A line of the daemon's log in readable form, with time, level, message and fields; and as an entry of the
// journal. Fields contain input of clients, which must not be able to move the cursor of a terminal.
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
  const line = JSON.parse(json) as Line
  const tint: Tint = (style, text) =>
    isColoured && text ? styleText(style, text, { validateStream: false }) : text
  const time = new Date(line.ts).toTimeString().slice(0, 8)
  const heading = tint(styles[line.level as keyof typeof styles] ?? 'bold', line.level.padEnd(levelColumns))
  return `${tint('dim', time)} ${heading} ${bodyOf(line, tint)}\n`
}

type Tint = (style: Parameters<typeof styleText>[0], text: string) => string

function bodyOf({ level, ts, msg = '', err, ...fields }: Line, tint: Tint): string {
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${valueText(value)}`)
  const words = [escapeControls(msg), tint('dim', pairs.join(' '))].filter(Boolean)
  const reason = err ? [`         ${escapeControls(err.message ?? '')}`, ...traceOf(err.stack)] : []
  return [words.join('  '), ...reason].join('\n')
}

const priorities: Record<string, number> = { fatal: 2, error: 3, warn: 4, info: 6, debug: 7 }

/** An entry in the journal's own format: the readable line, and each plain field as BERTH_<NAME>. */
export function toJournalEntry(json: string): Buffer {
  const line = JSON.parse(json) as Line
  const { level, ts, msg, err, ...fields } = line
  const own = Object.entries(fields)
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .map(([name, value]) => [`BERTH_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`, String(value)] as const)
  const entry = [
    ['MESSAGE', bodyOf(line, (_, text) => text)] as const,
    ['PRIORITY', String(priorities[level] ?? 6)] as const,
    ['SYSLOG_IDENTIFIER', 'berthd'] as const,
    ...own,
  ]
  return Buffer.concat(entry.map(([name, value]) => journalField(name, value)))
}

/** With its length, so that no value can end its field. */
function journalField(name: string, value: string): Buffer {
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(bytes.length))
  return Buffer.concat([Buffer.from(`${name}\n`), length, bytes, Buffer.from('\n')])
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
