// The demo's output: permanent lines, and on a terminal a few animated lines below them.
// Otherwise, or without colours, only the permanent lines without any escape code.
import { styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

export interface Terminal {
  readonly isLive: boolean
  /** The maximum columns of a line. */
  width(): number
  print(line?: string): void
  /** Redraws these lines several times a second until `rest`. Does nothing without a terminal. */
  animate(draw: (spinner: string) => string[]): void
  /** Removes the animated lines. */
  rest(): void
  paint(style: Style, text: string): string
}

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const frameMs = 80
const widest = 80
const cursor = { hide: '\x1b[?25l', show: '\x1b[?25h' }
const erase = { restOfLine: '\x1b[K', below: '\x1b[J' }

export function openTerminal(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Terminal {
  const isLive = stream.isTTY === true && env.TERM !== 'dumb' && !env.NO_COLOR
  return isLive ? openScreen(stream) : openPaper(stream)
}

function openPaper(stream: NodeJS.WriteStream): Terminal {
  return {
    isLive: false,
    width: () => widest,
    print: (line = '') => void stream.write(`${line}\n`),
    animate: () => undefined,
    rest: () => undefined,
    paint: (_, text) => text,
  }
}

// Each frame is one write that ends at the start of the line below: there the terminal echoes `^C`, and the
// next frame overwrites it.
function openScreen(stream: NodeJS.WriteStream): Terminal {
  let drawing: ((spinner: string) => string[]) | null = null
  let height = 0
  let timer: NodeJS.Timeout | null = null

  function redraw(above: string[] = []): void {
    const spinner = frames[Math.floor(Date.now() / frameMs) % frames.length]!
    const room = (stream.rows || 24) - 1
    const moving = drawing ? drawing(spinner).slice(0, room) : []
    const up = height > 0 ? `\x1b[${height}A` : ''
    const lines = [...above, ...moving].map((line) => `${line}${erase.restOfLine}\n`)
    stream.write(`\r${up}${lines.join('')}${erase.below}`)
    height = moving.length
  }

  function rest(): void {
    if (!drawing) return
    if (timer) clearInterval(timer)
    drawing = null
    redraw()
    stream.write(cursor.show)
  }

  process.once('exit', rest)
  return {
    isLive: true,
    width: () => Math.max(40, Math.min(widest, stream.columns || widest)) - 1,
    print: (line = '') => redraw([line]),
    animate(draw) {
      if (!drawing) {
        timer = setInterval(redraw, frameMs, [])
        stream.write(cursor.hide)
      }
      drawing = draw
      redraw()
    },
    rest,
    paint: (style, text) => styleText(style, text),
  }
}
