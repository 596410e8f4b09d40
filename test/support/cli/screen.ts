// A minimal terminal emulator: the screen after all output, sufficient for lines that are redrawn in place.

const introducer = '\x1b'
const sequence = new RegExp(`^${introducer}\\[([?\\d;]*)([A-Za-z])`)

/** The lines of the screen without trailing blanks; it never scrolls. */
export function toScreen(written: string, columns: number): string[] {
  const screen = new Screen(columns)
  for (let rest = written; rest !== ''; ) {
    const [whole, parameter = '', command = ''] = sequence.exec(rest) ?? []
    if (whole) screen.obey(command, parameter)
    else screen.put(String.fromCodePoint(rest.codePointAt(0)!))
    rest = rest.slice(whole?.length ?? String.fromCodePoint(rest.codePointAt(0)!).length)
  }
  return screen.lines()
}

class Screen {
  readonly #columns: number
  readonly #rows: string[][] = [[]]
  #x = 0
  #y = 0

  constructor(columns: number) {
    this.#columns = columns
  }

  put(letter: string): void {
    if (letter === '\r') this.#x = 0
    else if (letter === '\n') this.#move(this.#y + 1)
    else if (letter >= ' ') this.#write(letter)
  }

  obey(command: string, parameter: string): void {
    const amount = Number(parameter) || 1
    if (command === 'A') this.#move(Math.max(0, this.#y - amount))
    else if (command === 'B') this.#move(this.#y + amount)
    else if (command === 'G') this.#x = amount - 1
    else if (command === 'D') this.#x = Math.max(0, this.#x - amount)
    else if (command === 'C') this.#x += amount
    else if (command === 'K') this.#row().splice(parameter === '2' ? 0 : this.#x)
    else if (command === 'J') {
      this.#row().splice(this.#x)
      this.#rows.splice(this.#y + 1)
    }
  }

  lines(): string[] {
    const lines = this.#rows.map((row) =>
      Array.from(row, (letter) => letter ?? ' ')
        .join('')
        .trimEnd(),
    )
    return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1)
  }

  #write(letter: string): void {
    if (this.#x >= this.#columns) {
      this.#x = 0
      this.#move(this.#y + 1)
    }
    this.#row()[this.#x++] = letter
  }

  #move(y: number): void {
    this.#y = y
    while (this.#rows.length <= y) this.#rows.push([])
  }

  #row(): string[] {
    return this.#rows[this.#y]!
  }
}
