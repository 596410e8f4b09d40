// Texts that are wider than their room. Letters may be two columns wide.
import stringWidth from 'string-width'

/** As much of a text as so many columns hold, from its beginning or, with `keepsEnd`, from its end. */
export function clip(text: string, columns: number, keepsEnd = false): string {
  if (stringWidth(text) <= columns) return text
  const letters = [...text]
  if (keepsEnd) letters.reverse()
  const kept: string[] = []
  let used = 1 // of the dots
  for (const letter of letters) {
    used += stringWidth(letter)
    if (used > columns) break
    kept.push(letter)
  }
  return keepsEnd ? `…${kept.reverse().join('')}` : `${kept.join('')}…`
}
