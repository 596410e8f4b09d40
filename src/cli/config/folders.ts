// Where the command line keeps its own files, as the XDG base directories say.
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** What a person set: servers and their tokens. */
export function configFolder(env: NodeJS.ProcessEnv): string {
  return folderOf(env, 'XDG_CONFIG_HOME', '.config')
}

/** What is nice to remember. */
export function stateFolder(env: NodeJS.ProcessEnv): string {
  return folderOf(env, 'XDG_STATE_HOME', '.local/state')
}

/** What can be asked again. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  return folderOf(env, 'XDG_CACHE_HOME', '.cache')
}

// A relative path in one of these variables is to be ignored, says their specification.
function folderOf(env: NodeJS.ProcessEnv, variable: string, fallback: string): string {
  const given = env[variable]
  const base = given && isAbsolute(given) ? given : join(env.HOME || homedir(), fallback)
  return join(base, 'berth')
}
