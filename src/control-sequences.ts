// Control sequences of terminals in text from outside. Not node:util's stripVTControlCharacters: in Node 20
// its time grows with the square of the length, 228 ms for 16 KB of ESC and `;#;#…`. Here each part of
// a sequence excludes what begins the next one, so the time is linear.

const esc = '\\u001b'
/** Commands with a text, such as a window title or the target of a link. Their visible text is outside. */
const withText = `${esc}[\\]PX^_][^\\u0007${esc}]*(?:\\u0007|${esc}\\\\)`
const withNumbers = `(?:${esc}\\[|\\u009b)[0-?]*[ -/]*[@-~]`
const short = `${esc}[ -/]*[0-~]?`
const sequences = new RegExp(`${withText}|${withNumbers}|${short}`, 'g')

export function withoutControlSequences(text: string): string {
  return text.replace(sequences, '')
}
