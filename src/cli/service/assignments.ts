// Variables as arguments: `KEY=value`, or `KEY=-` to read the value from standard input, where it stays out
// of the process list and the shell history.
import type { EnvVar } from '../../api/env.ts'
import type { Cli } from '../client/session.ts'
import { usageFailure } from '../failure.ts'
import { readStandardInput } from '../terminal/standard-input.ts'

/** Throws a usage failure for a word that is not an assignment, and for more than one value from stdin. */
export async function parseAssignments(cli: Cli, words: string[]): Promise<EnvVar[]> {
  const pairs = words.map(parseAssignment)
  const piped = pairs.filter(({ value }) => value === '-')
  if (piped.length > 1) throw usageFailure('only one value can come from standard input')
  if (!piped[0]) return pairs
  const value = await readStandardInput(cli, `the value of ${piped[0].key}`)
  return pairs.map((pair) => (pair === piped[0] ? { ...pair, value } : pair))
}

// The error message does not repeat the word, which may be a secret without its key.
function parseAssignment(word: string): EnvVar {
  const at = word.indexOf('=')
  if (at < 1) throw usageFailure('write a variable as KEY=value', 'KEY=- reads the value from standard input')
  return { key: word.slice(0, at), value: word.slice(at + 1) }
}
