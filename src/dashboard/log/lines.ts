// The lines of one log that are in memory: neighbors in the order of their numbers. They live outside React.
import type { LogEvents, ServiceLogEvents } from '../../api/feed.ts'
import { isOrdinary, lastPart, plainText } from './ansi.ts'
import { cellsOf } from './rows.ts'

type DataOf<Event> = Extract<Event, { event: 'log' }> extends { data: infer Data } ? Data : never
type ActorLine = DataOf<ReturnType<(typeof LogEvents)['parse']>>
type ServiceLine = DataOf<ReturnType<(typeof ServiceLogEvents)['parse']>>

export interface Line {
  number: number
  /** In ms since 1970. */
  at: number
  stream: 'stdout' | 'stderr' | 'system' | 'access'
  /** With its codes for colors, without what a carriage return has rewritten. */
  text: string
  /** Its width in columns. */
  cells: number
  step?: ActorLine['step']
  instance?: string
  /** Of the response, in an access log. */
  status?: number
}

export const maxLines = 200_000
export const maxChars = 64 * 1024 * 1024
/** Lines leave memory so many at a time. */
export const chunkLines = 1_000

export function toLine(number: number, data: ActorLine | ServiceLine): Line {
  const text = lastPart(data.line)
  const cells = isOrdinary.test(text) ? text.length : cellsOf(plainText(text))
  const line: Line = { number, at: Date.parse(data.ts), stream: data.stream, text, cells }
  if ('step' in data && data.step) line.step = data.step
  if ('instance' in data && data.instance !== undefined) line.instance = data.instance
  if ('access' in data && data.access) {
    line.status = data.access.status
    if (data.access.instance !== null) line.instance = String(data.access.instance)
  }
  return line
}

export class Lines {
  #lines: Line[] = []
  #chars = 0

  get count(): number {
    return this.#lines.length
  }

  get isFull(): boolean {
    return this.#lines.length >= maxLines || this.#chars >= maxChars
  }

  /** The number of the first line; 0 for none. */
  get first(): number {
    return this.#lines[0]?.number ?? 0
  }

  get last(): number {
    return this.#lines.at(-1)?.number ?? 0
  }

  at(index: number): Line | undefined {
    return this.#lines[index]
  }

  /** All of them, to be read only. */
  all(): readonly Line[] {
    return this.#lines
  }

  add(line: Line): void {
    this.#chars += line.text.length
    this.#lines.push(line)
  }

  prepend(lines: Line[]): void {
    this.#chars += charsIn(lines)
    this.#lines = lines.concat(this.#lines)
  }

  dropOldest(): void {
    if (this.isTooMuch()) this.#chars -= charsIn(this.#lines.splice(0, chunkLines))
  }

  /** True if lines have left. */
  dropNewest(): boolean {
    const before = this.#lines.length
    while (this.isTooMuch()) this.#chars -= charsIn(this.#lines.splice(-chunkLines))
    return this.#lines.length < before
  }

  isTooMuch(): boolean {
    return this.#lines.length > maxLines || this.#chars > maxChars
  }
}

function charsIn(lines: Line[]): number {
  return lines.reduce((sum, { text }) => sum + text.length, 0)
}

/** The index of the last of the items whose number is not above this one; -1 for none. */
export function indexAtOrBefore(items: readonly { number: number }[], number: number): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (items[middle]!.number <= number) low = middle + 1
    else high = middle
  }
  return low - 1
}
