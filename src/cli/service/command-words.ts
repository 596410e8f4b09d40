// A service and the words after `--`, which are a command in one of its containers.
import { quote } from '../../domain/shell-word.ts'
import { usageFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'

/** The argument before `--` is the name, if there is one. Throws (usage) for more than one. */
export function splitArguments(
  { args }: Invocation,
  verb: string,
  [first, ...others]: [string | undefined, ...string[]],
) {
  const given = first === undefined ? [] : [first, ...others]
  const dashes = args.indexOf('--')
  const words = dashes === -1 ? [] : args.slice(dashes + 1)
  const [name, ...surplus] = given.slice(0, given.length - words.length)
  if (surplus.length > 0) {
    throw usageFailure('put the command after --', `berth ${verb} ${name} -- ${toShellCommand(surplus)}`)
  }
  return { name, words }
}

/** One command that a remote shell splits into the same words. A single word is a command already. */
export function toShellCommand(words: string[]): string {
  const [only = '', ...more] = words
  return more.length === 0 ? only : words.map(quote).join(' ')
}
