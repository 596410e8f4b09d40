// Words of commands for people to copy into a shell.

/** A word as a shell reads it. Within single quotes, only the quote itself is special. */
export function quote(word: string): string {
  return isHarmless(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** True if no shell gives the word a special meaning. A word with = could be an assignment. */
function isHarmless(word: string): boolean {
  return /^[\w@%+:,./-]+$/.test(word)
}
