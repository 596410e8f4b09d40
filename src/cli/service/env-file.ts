// The env files that commands read. Their text stays text: a value is never parsed again.

import type { EnvVar } from '../../api/env.ts'
import { envFileLimitMib, InvalidEnvFile, parseEnvFile } from '../../domain/env-file.ts'
import type { Cli } from '../client/session.ts'
import { usageFailure } from '../failure.ts'
import { readFileOrInput } from '../terminal/standard-input.ts'

/** The variables of a file, or of stdin for `-`. Throws a usage failure. */
export async function readEnvFile(cli: Cli, path: string): Promise<EnvVar[]> {
  return parseEnvText(await readFileOrInput(cli, path, envFileLimitMib), path)
}

/** `name` is that of the text in error messages. */
export function parseEnvText(text: string, name: string): EnvVar[] {
  try {
    return parseEnvFile(text)
  } catch (error) {
    if (!(error instanceof InvalidEnvFile)) throw error
    throw usageFailure(`${name}: ${error.message}`, "a line is KEY=value, KEY='value' or # a comment")
  }
}
