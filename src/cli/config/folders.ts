// The folders for the files of the command line, according to the XDG Base Directory Specification.
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

export function configFolder(env: NodeJS.ProcessEnv): string {
  return folderOf(env, 'XDG_CONFIG_HOME', '.config')
}

export function stateFolder(env: NodeJS.ProcessEnv): string {
  return folderOf(env, 'XDG_STATE_HOME', '.local/state')
}

/** Data that can be requested again. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  return folderOf(env, 'XDG_CACHE_HOME', '.cache')
}

// The specification requires relative paths in these variables to be ignored.
function folderOf(env: NodeJS.ProcessEnv, variable: string, fallback: string): string {
  const value = env[variable]
  const base = value && isAbsolute(value) ? value : join(env.HOME || homedir(), fallback)
  return join(base, 'berth')
}
