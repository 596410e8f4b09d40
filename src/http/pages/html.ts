// HTML as a tagged template: whatever is put in is text, and stays text.
// Attributes stand in double quotes, always; a value without them could begin another attribute.

/** HTML that may be sent as it is. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** What can be put into HTML; null and false leave nothing. */
type Piece = Html | string | number | null | false | readonly Piece[]

export function html(strings: TemplateStringsArray, ...pieces: Piece[]): Html {
  const texts = pieces.map((piece, index) => textOf(piece) + strings[index + 1])
  return new Html(strings[0] + texts.join(''))
}

function textOf(piece: Piece): string {
  if (piece === null || piece === false) return ''
  if (piece instanceof Html) return piece.text
  if (typeof piece === 'object') return piece.map(textOf).join('')
  return String(piece).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Attributes with their values; true stands for one without, false and undefined for none. */
export function attributesOf(given: Record<string, string | boolean | undefined>): Html {
  const present = Object.entries(given).filter(([, value]) => value !== undefined && value !== false)
  const written = present.map(([name, value]) =>
    value === true ? name : `${name}="${textOf(String(value))}"`,
  )
  return new Html(written.join(' '))
}
