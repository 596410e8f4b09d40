// Colors of terminals as names of styles, and every other control character made visible: what a program
// writes cannot move, hide or reorder what its reader sees. The time is linear in the length of a line.
import Anser from 'anser'

interface Span {
  text: string
  /** Such as `bold red`; empty for plain text. */
  style: string
}

const esc = '\u001b'
/** A carriage return, or what spinners use in its place: the line is written again. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const rewrites = /\r|\u001b\[(?:2K|1?G)/
/** Shown as it is, a column for each letter. */
export const isOrdinary = /^[\x20-\x7e]*$/
const isColor = /^[\d;]*m/
/** It also erases the rest of a line, where nothing is: `grep` and `gcc` do so after each color. */
const isKnown = /^(?:[\d;]*m|0?K)/
const hostile = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu
/** More styles than that in one line are an attack on the browser. */
const maxSpans = 200
const tabColumns = 8

/** What is left of a line whose beginning was rewritten. */
export function lastPart(text: string): string {
  if (isOrdinary.test(text)) return text
  return text.split(rewrites).findLast((part) => part !== '') ?? ''
}

/** The line as it is shown, without its styles. */
export function plainText(text: string): string {
  if (isOrdinary.test(text)) return text
  const [first, ...rest] = text.split(`${esc}[`)
  return rest.reduce((shown, part) => shown + visible(textAfter(part), shown.length), visible(first!, 0))
}

function textAfter(part: string): string {
  return isKnown.test(part) ? part.replace(isKnown, '') : `${esc}[${part}`
}

export function toSpans(text: string): Span[] {
  if (isOrdinary.test(text)) return [{ text, style: '' }]
  const anser = new Anser()
  const [first, ...rest] = text.split(`${esc}[`)
  const spans: Span[] = []
  let column = 0
  let style = ''

  function add(part: string): void {
    const shown = visible(part, column)
    if (shown === '') return
    column += shown.length
    const last = spans.at(-1)
    if (last && (last.style === style || spans.length >= maxSpans)) last.text += shown
    else spans.push({ text: shown, style })
  }

  add(first!)
  for (const part of rest) {
    if (isColor.test(part)) {
      const entry = anser.processChunkJson(part, { json: true }, true)
      keepDistinct(entry.decorations)
      style = styleOf(entry)
    }
    add(textAfter(part))
  }
  return spans
}

/** The parser keeps this list, and would add to it with each code. */
function keepDistinct(decorations: string[]): void {
  const distinct = new Set(decorations)
  if (distinct.size < decorations.length) decorations.splice(0, decorations.length, ...distinct)
}

function visible(text: string, column: number): string {
  if (isOrdinary.test(text)) return text
  const [first, ...rest] = text.split('\t')
  let shown = controlsShown(first!)
  for (const part of rest) {
    const at = column + shown.length
    shown += ' '.repeat(tabColumns - (at % tabColumns)) + controlsShown(part)
  }
  return shown
}

function controlsShown(text: string): string {
  return text.replace(hostile, (letter) => {
    const code = letter.charCodeAt(0)
    if (code < 0x20) return String.fromCharCode(0x2400 + code)
    return code === 0x7f ? '\u2421' : `\\u${code.toString(16).padStart(4, '0')}`
  })
}

/** The colors of terminals, as the parser names them, and ours. White is the text's, and so is black. */
const colors: [red: number, green: number, blue: number, style: string][] = [
  [0, 0, 0, ''],
  [187, 0, 0, 'red'],
  [0, 187, 0, 'green'],
  [187, 187, 0, 'yellow'],
  [0, 0, 187, 'blue'],
  [187, 0, 187, 'magenta'],
  [0, 187, 187, 'cyan'],
  [187, 187, 187, 'text'],
  [255, 255, 255, 'text'],
  [85, 85, 85, 'gray'],
  [255, 85, 85, 'bold red'],
  [0, 255, 0, 'bold green'],
  [255, 255, 85, 'bold yellow'],
  [85, 85, 255, 'bold blue'],
  [255, 85, 255, 'bold magenta'],
  [85, 255, 255, 'bold cyan'],
]

function nearestStyle(color: string | null): string {
  if (!color) return ''
  const [red = 0, green = 0, blue = 0] = color.split(',').map(Number)
  let [nearest, least] = ['', Number.POSITIVE_INFINITY]
  for (const [r, g, b, style] of colors) {
    const distance = (red - r) ** 2 + (green - g) ** 2 + (blue - b) ** 2
    if (distance < least) [nearest, least] = [style, distance]
  }
  return nearest
}

const shownDecorations = ['bold', 'dim', 'italic', 'underline', 'strikethrough']

/** Text on a color always has the color of the page behind it, so it can be read. Nothing hides or blinks. */
function styleOf({ fg, bg, decorations }: Pick<Anser.AnserJsonEntry, 'fg' | 'bg' | 'decorations'>): string {
  const isReversed = decorations.includes('reverse')
  const ink = nearestStyle(fg)
  const ground = isReversed ? ink || 'text' : nearestStyle(bg)
  const color = ground ? `on-${ground.replace('bold ', '')}` : ink === 'text' ? '' : ink
  const words = [...color.split(' '), ...decorations.filter((name) => shownDecorations.includes(name))]
  return [...new Set(words)].join(' ').trim()
}
