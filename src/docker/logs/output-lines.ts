// Splits the output of a program into lines. It arrives in chunks of any length, so the last line is held
// until its line break arrives. A line without an end is emitted in parts, to bound memory. A line that is
// overwritten, such as progress, counts once, in its last state, as on a terminal.
import { withoutControlSequences } from '../../control-sequences.ts'

export interface OutputLines {
  push(piece: string): string[]
  /** The last line, if it has no line break. */
  remainder(): string[]
}

const longestHeldBack = 16 * 1024

export function createOutputLines(): OutputLines {
  let pending = ''

  function push(piece: string): string[] {
    const lines = (pending + piece).split('\n')
    pending = withoutFormerStates(lines.pop() ?? '')
    if (pending.length > longestHeldBack) lines.push(...rest())
    return lines.map(lastState)
  }

  function rest(): string[] {
    const lines = pending === '' ? [] : [lastState(pending)]
    pending = ''
    return lines
  }

  return { push, remainder: rest }
}

/** `5%\r10%\r` → `10%`. */
export function lastState(line: string): string {
  if (!line.includes('\r')) return line
  return line.split('\r').findLast((state) => !isBlank(state)) ?? ''
}

/** The text after the last return may still be blank. Then the state before it counts. */
function withoutFormerStates(pending: string): string {
  const end = pending.lastIndexOf('\r')
  if (end === -1) return pending
  const newest = pending.slice(end + 1)
  return isBlank(newest) ? `${lastState(pending.slice(0, end))}\r${newest}` : newest
}

function isBlank(text: string): boolean {
  return withoutControlSequences(text).trim() === ''
}
