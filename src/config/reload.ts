// Options that can change while berthd runs. `systemctl reload` writes those of its file to `options` in the
// directory of the run, because the environment of a process does not change.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Config, readConfig } from './config.ts'

type Name = keyof Config

/** Read whenever they are used. The others shape what is opened at the start. */
const changeable: ReadonlySet<Name> = new Set<Name>([
  'build-concurrency',
  'build-timeout',
  'datastore-ports',
  'default-cpu-limit',
  'default-memory-limit',
  'fetch-timeout',
  'keep-images',
  'log-level',
  'min-free-disk',
  'pids-limit',
  'postgres-image',
  'redis-image',
  'settle-time',
  'start-timeout',
  'static-image',
  'trash-days',
])

/** Throws `invalid_option`, and if the file cannot be read. */
export async function rereadConfig(args: string[], env: NodeJS.ProcessEnv, runDir: string): Promise<Config> {
  const text = await readFile(join(runDir, 'options'), 'utf8')
  const kept = Object.entries(env).filter(([name]) => !name.startsWith('BERTH_'))
  const read = text.split('\0').filter(Boolean)
  const given = read.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])
  return readConfig(args, Object.fromEntries([...kept, ...given]))
}

/** The names of the options that differ: those that change, and those that need a restart. */
export function compareConfig(current: Config, next: Config): { changed: Name[]; needRestart: Name[] } {
  const names = Object.keys(current) as Name[]
  const different = names.filter((name) => !isDeepStrictEqual(current[name], next[name]))
  return {
    changed: different.filter((name) => changeable.has(name)),
    needRestart: different.filter((name) => !changeable.has(name)),
  }
}
