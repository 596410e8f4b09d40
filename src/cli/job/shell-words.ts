// Converts words of this command line to one command for a remote shell, which parses the same words from it.
// A single word is already a command: its special characters are meant for the remote shell.
import { quote } from '../../domain/shell-word.ts'

/** `npm run migrate`, `printf '%s\n' 'a  b' 'it'\''s'`; an empty string without words. */
export function toShellCommand(words: string[]): string {
  const [only = '', ...more] = words
  return more.length === 0 ? only : words.map(quote).join(' ')
}
