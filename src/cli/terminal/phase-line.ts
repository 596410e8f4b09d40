// The lines of a deploy for stderr: mark, name, detail, and the duration at the edge of a live terminal.
import stringWidth from 'string-width'
import { sleep } from '../../async/sleep.ts'
import { duration } from '../../quantities.ts'
import type { CliFailure } from '../failure.ts'
import { type Output, plain } from './output.ts'

interface PhaseLine {
  /** `✔`, `✘`, or a frame of the spinner. */
  mark: string
  name: string
  detail?: string
  durationMs: number | null
}

type Screen = Pick<Output, 'isLive' | 'tint' | 'width'>

const nameColumns = 13
const clockColumns = 9
const maxColumns = 100
const colours: Record<string, 'green' | 'red'> = { '✔': 'green', '✘': 'red' }

/** ` ✔ building     14 steps, 11 cached                       8.4s` */
export function phaseLine(screen: Screen, { mark, name, detail = '', durationMs }: PhaseLine): string {
  const sign = screen.tint(colours[mark] ?? 'cyan', mark)
  const heading = screen.tint('bold', plain(name).padEnd(nameColumns))
  const clock = durationMs === null ? '' : duration(durationMs)
  if (!screen.isLive) return ` ${sign} ${heading}${spaced(plain(detail))}${clock}`.trimEnd()
  const room = columns(screen) - 3 - nameColumns - clockColumns
  const clipped = clip(plain(detail), room)
  const gap = ' '.repeat(Math.max(0, room - stringWidth(clipped)))
  return ` ${sign} ${heading}${clipped}${gap}${screen.tint('dim', clock.padStart(clockColumns))}`
}

/** `   │ #6 [3/3] COPY . .`, a line of a log below its phase. */
export function windowLine(screen: Screen, text: string): string {
  const clipped = screen.isLive ? clip(plain(text), columns(screen) - 5) : plain(text)
  return screen.tint('dim', `   │ ${clipped}`)
}

/** Wraps the text at spaces into as few lines as possible, each with the indent. Words are not split. */
export function paragraph(text: string, indent: string, room: number): string[] {
  const lines: string[] = []
  for (const word of plain(text).split(' ')) {
    const longer = lines.length > 0 ? `${lines.at(-1)} ${word}` : indent + word
    if (lines.length > 0 && stringWidth(longer) > room) lines.push(indent + word)
    else lines.splice(-1, 1, longer)
  }
  return lines
}

/** `   undo: berth rollback shop`: never cut, because users copy it. */
export function nextStep(screen: Screen, label: string, command: string): string {
  return `   ${screen.tint('dim', `${label}:`)} ${plain(command)}`
}

/** The last column stays free: some terminals wrap when it is written. */
function columns(screen: Screen): number {
  return Math.min(maxColumns, screen.width()) - 1
}

function spaced(text: string): string {
  return text && `${text}  `
}

/** Cuts the text to a number of columns, at its end or, with `keepsEnd`, at its start. */
export function clip(text: string, columns: number, keepsEnd = false): string {
  if (stringWidth(text) <= columns) return text
  const letters = [...text]
  if (keepsEnd) letters.reverse()
  const characters: string[] = []
  let used = 1 // of the dots
  for (const letter of letters) {
    used += stringWidth(letter)
    if (used > columns) break
    characters.push(letter)
  }
  return keepsEnd ? `…${characters.reverse().join('')}` : `${characters.join('')}…`
}

interface Step<Result> {
  name: string
  detail(): string
  /** The text of the final line; null for no line. */
  summary(result: Result): string | null
  /** The start time, for a step that continues after a pause. */
  startedAt?: number
}

/** Without a live terminal, a step that takes longer prints its name. */
const announceAfterMs = 1000

/** Prints nothing when the work fails, because the error is reported separately. */
export async function showStep<Result>(
  out: Output,
  { name, detail, summary, startedAt = Date.now() }: Step<Result>,
  work: () => Promise<Result>,
): Promise<Result> {
  const line = (mark: string, text: string) =>
    phaseLine(out, { mark, name, detail: text, durationMs: Date.now() - startedAt })
  const isSilent = out.isJson
  const timeout = setTimeout(() => {
    if (!out.isLive && !isSilent) out.say(` · ${name}`)
  }, announceAfterMs)
  if (!isSilent) out.animate((spinner) => [line(spinner, detail())])
  try {
    const result = await work()
    const output = summary(result)
    if (output !== null && !isSilent) out.say(line('✔', output))
    return result
  } finally {
    clearTimeout(timeout)
    out.rest()
  }
}

interface Work<State> {
  name: string
  /** Null before the first answer. */
  detail(state: State | null): string
  summary?(state: State): string | null
  begin(): Promise<State>
  look(state: State): Promise<State>
  isUnderWay(state: State): boolean
  /** The failure after Ctrl-C. The state is null before the first answer. */
  interruption?(state: State | null): CliFailure | null
}

const pollMs = 400

/** Shows work of the server, and polls until it is over. Ctrl-C stops only the polling. */
export async function showWork<State>(
  { out, signal }: { out: Output; signal: AbortSignal },
  { name, detail, summary = () => null, begin, look, isUnderWay, interruption }: Work<State>,
): Promise<State> {
  let state: State | null = null
  try {
    return await showStep(out, { name, detail: () => detail(state), summary }, async () => {
      for (state = await begin(); isUnderWay(state); state = await look(state)) await sleep(pollMs, signal)
      return state
    })
  } catch (error) {
    throw (signal.aborted && interruption?.(state)) || error
  }
}
