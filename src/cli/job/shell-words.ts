// Words of this command line as one command of a shell elsewhere, which finds the same words in it.
// One word alone is a command already: what is in it is meant for that shell.

/** `npm run migrate`, `printf '%s\n' 'a  b' 'it'\''s'`; empty without words. */
export function toShellCommand(words: string[]): string {
  const [only = '', ...more] = words
  return more.length === 0 ? only : words.map(quote).join(' ')
}

/** Nothing within single quotes means anything to a shell, but for the quote itself. */
function quote(word: string): string {
  return isHarmless(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** No shell takes it for anything else; a word with = in it could be an assignment. */
function isHarmless(word: string): boolean {
  return /^[\w@%+:,./-]+$/.test(word)
}
