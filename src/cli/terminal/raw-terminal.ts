// Raw mode: every key goes to stdin, including Ctrl-C. Without its end, the shell does not echo keys.
import { constants } from 'node:os'
import type { Invocation } from '../invocation.ts'

export interface RawTerminal {
  size(): { cols: number; rows: number }
  close(): void
}

/** Signals that end the process and would leave the terminal in raw mode. */
const terminationSignals = ['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/** Standard input and output must be terminals. */
export function openRawTerminal({ stdin, stdout }: Invocation, onResize: () => void): RawTerminal {
  const restore = () => void stdin.setRawMode?.(false)
  const leave = (signal: (typeof terminationSignals)[number]) => process.exit(128 + constants.signals[signal])
  stdin.setRawMode?.(true)
  process.once('exit', restore)
  for (const signal of terminationSignals) process.once(signal, leave)
  stdout.on('resize', onResize)
  return {
    size: () => ({ cols: stdout.columns || 80, rows: stdout.rows || 24 }),
    close() {
      stdout.off('resize', onResize)
      for (const signal of terminationSignals) process.off(signal, leave)
      process.off('exit', restore)
      restore()
    },
  }
}
