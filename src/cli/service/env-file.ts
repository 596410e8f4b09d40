// The variables that commands read from files and arguments. A value stays text, and is never parsed again.
import type { ChangeEnv, EnvChanges, EnvVar } from '../../api/env.ts'
import { parseSecrets, type Secret } from '../../blueprint/secrets.ts'
import { envFileLimitMib, InvalidEnvFile, parseEnvFile } from '../../domain/env-file.ts'
import { servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import { usageFailure } from '../failure.ts'
import { plain } from '../terminal/output.ts'
import { readFileOrInput, readStandardInput } from '../terminal/standard-input.ts'

/** The variables of a file, or of stdin for `-`. Throws a usage failure. */
export async function readEnvFile(cli: Cli, path: string): Promise<EnvVar[]> {
  return parseEnvText(await readFileOrInput(cli, path, envFileLimitMib), path)
}

/** Lines of `KEY=value`, or of `SERVICE.KEY=value` for one service. Throws a usage failure. */
export async function readSecrets(cli: Cli, path: string): Promise<Secret[]> {
  return parseOrRefuse(await readFileOrInput(cli, path, envFileLimitMib), path, parseSecrets)
}

/** `name` is for error messages. In files of Compose, a key may repeat. */
export function parseEnvText(text: string, name: string, mayRepeat = false): EnvVar[] {
  return parseOrRefuse(text, name, (whole) => parseEnvFile(whole, { mayRepeat }))
}

function parseOrRefuse<Parsed>(text: string, name: string, parse: (text: string) => Parsed): Parsed {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof InvalidEnvFile)) throw error
    throw usageFailure(`${name}: ${error.message}`, "a line is KEY=value, KEY='value' or # a comment")
  }
}

/**
 * `KEY=value`, or `KEY=-` for a value from stdin, which stays out of process list and shell history.
 * Throws a usage failure for any other word, and for a second value from stdin.
 */
export async function parseAssignments(cli: Cli, words: string[]): Promise<EnvVar[]> {
  const pairs = words.map(parseAssignment)
  const piped = pairs.filter(({ value }) => value === '-')
  if (piped.length > 1) throw usageFailure('only one value can come from standard input')
  if (!piped[0]) return pairs
  const { key } = piped[0]
  const value = await readStandardInput(cli, `the value of ${key}`, () =>
    cli.out.say(`   the line feed at the end of ${plain(key)} was left out`),
  )
  return pairs.map((pair) => (pair === piped[0] ? { ...pair, value } : pair))
}

// The error message does not repeat the word, which may be a secret without its key.
function parseAssignment(word: string): EnvVar {
  const at = word.indexOf('=')
  if (at < 1) throw usageFailure('write a variable as KEY=value', 'KEY=- reads the value from standard input')
  return { key: word.slice(0, at), value: word.slice(at + 1) }
}

/** Says which variables replace something that the image needs, or refer to nothing. */
export async function warnOfVariables(cli: Cli, service: string, change: Partial<ChangeEnv>): Promise<void> {
  const { client, out } = cli
  const warn = (text: string) => out.say(`  ${out.tint('yellow', '!')} ${plain(text)}`)
  const query = { dry_run: true }
  const path = `${servicePath(service)}/env`
  const { unresolved } = await client.call<EnvChanges>('PATCH', path, { body: change, query })
  for (const key of unresolved) warn(`${key} refers to something that does not exist`)
  if (change.set?.some(({ key }) => key === 'PATH'))
    warn('PATH replaces that of the image: programs in the folders of its own are not found')
}
