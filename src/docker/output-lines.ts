// What a program writes, as lines. It comes in pieces of any length: the last line is held back until its
// line break is there. A line that does not end is told in parts, so that no program can fill the memory.

export interface OutputLines {
  /** The lines that a piece completes. */
  push(piece: string): string[]
  /** The line that was never ended; none when there is none. */
  rest(): string[]
}

const longestHeldBack = 16 * 1024

export function createOutputLines(): OutputLines {
  let pending = ''

  function push(piece: string): string[] {
    const lines = (pending + piece).split('\n')
    pending = lines.pop() ?? ''
    if (pending.length > longestHeldBack) lines.push(...rest())
    return lines.map(withoutReturn)
  }

  function rest(): string[] {
    const lines = pending === '' ? [] : [withoutReturn(pending)]
    pending = ''
    return lines
  }

  return { push, rest }
}

function withoutReturn(line: string): string {
  return line.replace(/\r$/, '')
}
