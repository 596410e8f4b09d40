// The command line at a terminal that only a test sees, in the process of the test. `pty.ts` has a real one.
import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { type Scope, temporaryDirectory } from '../system/directory.ts'
import { type BerthOptions, begin, berthEnv, textStream, untilShown } from './berth.ts'
import type { Terminal, TerminalOptions } from './pty.ts'
import { toScreen } from './screen.ts'

export interface FakeTerminal extends Omit<Terminal, 'kill'> {
  /** Whether every key goes to the program, and none is echoed. */
  readonly isRaw: boolean
}

const rows = 40

/** Runs `berth` with these arguments at its own terminal; interrupted after the test. */
export function openFakeTerminal(
  t: Scope,
  args: string[],
  options: Omit<TerminalOptions, 'afterwards'> = {},
): FakeTerminal {
  const { cwd = temporaryDirectory(t), columns = 80 } = options
  const env: BerthOptions['env'] = { TERM: 'xterm-256color', ...options.env }
  let written = ''
  let isRaw = false
  const keyboard = new PassThrough()
  const stdin = Object.assign(keyboard, {
    isTTY: true,
    setRawMode(wanted: boolean) {
      isRaw = wanted
    },
  })
  const output = textStream((text) => {
    written += text.replaceAll('\n', '\r\n')
  })
  const screen = Object.assign(output, { isTTY: true, columns, rows })
  const streams = { stdin, stdout: screen, stderr: screen }
  const { code, interrupt } = begin(t, args, { env: berthEnv(t, { ...options, env }), cwd, ...streams })
  return {
    get written() {
      return written
    },
    get isRaw() {
      return isRaw
    },
    screen: () => toScreen(written, columns),
    // As a terminal: Ctrl-C is a signal, unless the program wants every key.
    type: (keys) => (keys === '\x03' && !isRaw ? interrupt() : void keyboard.write(keys)),
    async shows(text) {
      const shown = () => stripVTControlCharacters(written)
      await untilShown(text, `the terminal of berth ${args.join(' ')}`, shown).catch((error: Error) => {
        throw new Error(`${error.message}\n${toScreen(written, columns).join('\n')}`)
      })
    },
    ended: () => code,
  }
}
