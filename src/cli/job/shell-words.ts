// Converts words of this command line to one command for a remote shell, which parses the same words from it.
// A single word is already a command: its special characters are meant for the remote shell.

/** `npm run migrate`, `printf '%s\n' 'a  b' 'it'\''s'`; an empty string without words. */
export function toShellCommand(words: string[]): string {
  const [only = '', ...more] = words
  return more.length === 0 ? only : words.map(quote).join(' ')
}

/** A word as a shell reads it. Within single quotes, only the quote itself is special. */
export function quote(word: string): string {
  return isHarmless(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** True if no shell gives the word a special meaning. A word with = could be an assignment. */
function isHarmless(word: string): boolean {
  return /^[\w@%+:,./-]+$/.test(word)
}
