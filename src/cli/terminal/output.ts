// The output of a command: results on stdout, messages on stderr, and on a live terminal a few animated
// lines. Text from a server must pass through `plain` or `coloured` first, because it could move the cursor.
import { styleText } from 'node:util'
import type { createLogUpdate } from 'log-update'
import { withoutControlSequences } from '../../control-sequences.ts'
import type { Invocation, OutputStream } from '../invocation.ts'

export type Style = Parameters<typeof styleText>[0]

export interface Output {
  readonly isJson: boolean
  readonly isTerminal: boolean
  readonly isColoured: boolean
  /** Whether stderr is a terminal that can redraw: progress may move. */
  readonly isLive: boolean
  /** Whether stdin and stderr are terminals: prompts are allowed. */
  readonly canAsk: boolean
  print(line?: string): void
  say(line?: string): void
  /** One line of JSON on stdout; for a stream one per value. */
  json(value: unknown): void
  paint(style: Style, text: string): string
  tint(style: Style, text: string): string
  /** The columns of the terminal; 80 without a terminal. */
  width(): number
  /** Redraws these lines on stderr in place until `rest` is called. Does nothing without a terminal. */
  animate(draw: (spinner: string) => string[]): void
  rest(): void
}

export interface OutputOptions extends Pick<Invocation, 'stdin' | 'stdout' | 'stderr' | 'env'> {
  isJson: boolean
}

type LogUpdate = ReturnType<typeof createLogUpdate>

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const frameMs = 80

export function openOutput({ stdin, stdout, stderr, env, isJson }: OutputOptions): Output {
  const isLive = stderr.isTTY === true && env.TERM !== 'dumb'
  const canAsk = stdin.isTTY === true && isLive
  const painter = (stream: OutputStream) => {
    const isColoured = wantsColour(stream, env)
    return (style: Style, text: string) =>
      isColoured ? styleText(style, text, { validateStream: false }) : text
  }
  const stage = isLive ? openStage(stderr) : null
  // Permanent lines, also on stdout, clear the animated ones: both streams may be the same terminal.
  const write = (stream: OutputStream, line: string) => {
    if (!stream.isTTY) return void stream.write(`${line}\n`)
    stage?.clear()
    stream.write(`${line}\n`)
    stage?.redrawSoon()
  }
  return {
    isJson,
    isTerminal: stdout.isTTY === true,
    isColoured: wantsColour(stdout, env),
    isLive,
    canAsk,
    print: (line = '') => write(stdout, line),
    say: (line = '') => write(stderr, line),
    json: (value) => write(stdout, toJson(value)),
    paint: painter(stdout),
    tint: painter(stderr),
    width: () => Math.max(40, stdout.columns || stderr.columns || 80),
    animate: (draw) => stage?.animate(draw),
    rest: () => stage?.rest(),
  }
}

/** Control characters above ASCII, which JSON allows unescaped, are written as `\u009b`. */
function toJson(value: unknown): string {
  const escaped = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value).replace(/[\u007f-\u009f]/g, escaped)
}

/** FORCE_COLOR takes precedence, as in Node and in the prompts. */
export function wantsColour(stream: OutputStream, env: NodeJS.ProcessEnv): boolean {
  const { FORCE_COLOR: forced } = env
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
}

/** The animated lines. Their library is loaded on first use. */
function openStage(stream: OutputStream) {
  let drawing: ((spinner: string) => string[]) | null = null
  let update: LogUpdate | null = null
  let timer: NodeJS.Timeout | null = null
  let redrawnAt = 0

  function redraw(): void {
    if (!drawing || !update) return
    const spinner = frames[Math.floor(Date.now() / frameMs) % frames.length]!
    update(drawing(spinner).join('\n'))
    redrawnAt = performance.now()
  }

  async function load(): Promise<void> {
    const { createLogUpdate } = await import('log-update')
    update ??= createLogUpdate(stream)
    redraw()
  }

  return {
    /** Draws immediately or with the next frame; otherwise each of many permanent lines would wait for it. */
    redrawSoon(): void {
      if (performance.now() - redrawnAt >= frameMs) redraw()
    },
    clear: () => update?.clear(),
    animate(draw: (spinner: string) => string[]): void {
      drawing = draw
      timer ??= setInterval(redraw, frameMs)
      if (update) redraw()
      else void load()
    },
    rest(): void {
      if (timer) clearInterval(timer)
      timer = null
      drawing = null
      update?.clear()
      update?.done()
    },
  }
}

// Characters that reorder the surrounding text, and separators that some terminals treat as a line break.
const reorderingCharacters = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu

/** Text on one line, without control characters that could move the cursor. */
export function plain(text: string): string {
  const line = text.replaceAll('\t', '  ').replaceAll('\n', ' ')
  return withoutControlSequences(line)
    .replace(/\p{Cc}/gu, '')
    .replace(reorderingCharacters, '')
}

const introducer = '\u001b'
const colourSequence = new RegExp(`(${introducer}\\[[\\d;:]*m)`)

/** The same, but colours stay, and end with the line. */
export function coloured(text: string): string {
  const parts = text.split(colourSequence)
  const line = parts.map((part, index) => (index % 2 === 1 ? part : plain(part))).join('')
  return parts.length > 1 ? `${line}${introducer}[0m` : line
}
