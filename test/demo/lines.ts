// The layout of the demo's lines: a mark, a name, a detail, and a duration at the right edge.

import { plain } from '../../src/cli/terminal/output.ts'
import { clip } from '../../src/cli/terminal/phase-line.ts'
import type { Terminal } from './terminal.ts'

export interface PhaseLine {
  /** `✔`, `✘`, or a frame of the spinner. */
  mark: string
  name: string
  detail: string
  /** Null without a duration. */
  durationMs: number | null
}

const nameColumns = 13
const clockColumns = 8
const colours: Record<string, 'green' | 'red'> = { '✔': 'green', '✘': 'red' }

/** ` ✔ building     8 steps, 2 cached                       1.4s` */
export function phaseLine(terminal: Terminal, { mark, name, detail, durationMs }: PhaseLine): string {
  const colour = colours[mark]
  const sign = colour ? terminal.paint(colour, mark) : mark
  const heading = terminal.paint('bold', name.padEnd(nameColumns))
  const clock = durationMs === null ? '' : seconds(durationMs)
  const room = terminal.width() - 3 - nameColumns - clockColumns
  const output = terminal.isLive ? clip(plain(detail), room) : plain(detail)
  const end = terminal.paint('dim', clock.padStart(clockColumns))
  return ` ${sign} ${heading}${output.padEnd(room)}${end}`.trimEnd()
}

/** `   token     /tmp/…`, never truncated, because users copy the values. Further lines follow below. */
export function factLines(terminal: Terminal, name: string, values: string[]): string[] {
  return values.map((value, index) => {
    const label = terminal.paint('dim', (index === 0 ? name : '').padEnd(nameColumns))
    return `   ${label}${value}`
  })
}

export function heading(terminal: Terminal, text: string): void {
  terminal.print()
  terminal.print(` ${terminal.paint('bold', text)}`)
  terminal.print()
}

export function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)}s`
}

export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`
}
