// HTML as a tagged template that escapes values. Attributes need double quotes, or a value could add another.

/** HTML that needs no escaping. */
export class Html {
  constructor(readonly text: string) {}
}

/** A value that can be inserted; null and false insert nothing. */
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

/** Attributes with their values; true gives an attribute without a value, false and undefined omit it. */
export function attributesOf(attributes: Record<string, string | boolean | undefined>): Html {
  const present = Object.entries(attributes).filter(([, value]) => value !== undefined && value !== false)
  const written = present.map(([name, value]) =>
    value === true ? name : `${name}="${textOf(String(value))}"`,
  )
  return new Html(written.join(' '))
}
