// Cuts text to the available width. Letters may be two columns wide.
import stringWidth from 'string-width'

/** Cuts the text to a number of columns, at its end or, with `keepsEnd`, at its start. */
export function clip(text: string, columns: number, keepsEnd = false): string {
  if (stringWidth(text) <= columns) return text
  const letters = [...text]
  if (keepsEnd) letters.reverse()
  const characters: string[] = []
  let used = 1 // of the dots
  for (const letter of letters) {
    used += stringWidth(letter)
    if (used > columns) break
    characters.push(letter)
  }
  return keepsEnd ? `…${characters.reverse().join('')}` : `${characters.join('')}…`
}
