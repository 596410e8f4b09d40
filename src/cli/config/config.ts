// The user's servers, with their tokens: `$XDG_CONFIG_HOME/berth/config.json`, mode 0600.

import { join } from 'node:path'
import { CliFailure, exitCodes, usageFailure } from '../failure.ts'
import { configFolder, readJsonFile, writeJsonFile } from './json-file.ts'

export interface KnownServer {
  url: string
  token: string
}

export interface Config {
  /** The name of the server to use if no flag, variable or project file names a server. */
  default: string | undefined
  servers: Record<string, KnownServer>
}

export const defaultUrl = 'http://127.0.0.1:7878'

function configPath(env: NodeJS.ProcessEnv): string {
  return join(configFolder(env), 'config.json')
}

export function readConfig(env: NodeJS.ProcessEnv): Config {
  const path = configPath(env)
  const stored = readJsonFile(path) ?? {}
  if (!isConfig(stored))
    throw new CliFailure(`${path} does not have the format that berth writes`, { hint: 'remove it' })
  return { default: stored.default, servers: stored.servers ?? {} }
}

export function changeConfig(env: NodeJS.ProcessEnv, change: (config: Config) => Config): Config {
  const config = change(readConfig(env))
  writeJsonFile(configPath(env), config)
  return config
}

/** A host with a port. The name of a server never looks like this. */
const hostAndPort = /^(?:\[[\da-f:.]+\]|[a-z\d.-]+):\d{1,5}$/i
/** A host as users type it. A single word is the name of a server, not an address. */
const bareHost = /^(?:localhost|\[[\da-f:.]+\]|[a-z\d-]+(?:\.[a-z\d-]+)+)(?::\d{1,5})?(?:\/.*)?$/i
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?=[:/]|$)/i

/**
 * With a scheme, without a trailing slash. Throws a usage failure for anything else. The default is http on
 * this host and https elsewhere: a token crosses a network in clear text only if the user typed http.
 */
export function parseServerUrl(text: string): string {
  const whole = withScheme(text)
  const url = URL.canParse(whole) ? new URL(whole) : null
  if (!url || !/^https?:$/.test(url.protocol) || !url.host) {
    throw usageFailure(`'${text}' is not the address of a server`, `write it like ${defaultUrl}`)
  }
  if (url.username || url.password) {
    throw usageFailure(
      'a server address must not contain a password',
      'pass a token with --token-file or BERTH_TOKEN',
    )
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

function withScheme(text: string): string {
  if (!hostAndPort.test(text) && !bareHost.test(text)) return text
  if (!loopback.test(text)) return `https://${text}`
  const url = new URL(`http://${text}`)
  if (!/:\d+(?:\/|$)/.test(text)) url.port = new URL(defaultUrl).port
  return url.href
}

export function isServerUrl(text: string): boolean {
  return text.includes('://') || hostAndPort.test(text)
}

export function findServer(config: Config, nameOrUrl: string): { name: string; server: KnownServer } | null {
  const wanted = isServerUrl(nameOrUrl) ? parseServerUrl(nameOrUrl) : null
  const found = Object.entries(config.servers).find(([name, { url }]) =>
    wanted ? url === wanted : name === nameOrUrl,
  )
  return found ? { name: found[0], server: found[1] } : null
}

/** Like `findServer`, but throws (not found) for an unknown server. */
export function knownServer(config: Config, nameOrUrl: string): { name: string; server: KnownServer } {
  const server = findServer(config, nameOrUrl)
  if (server) return server
  const isAddress = isServerUrl(nameOrUrl)
  throw new CliFailure(
    isAddress ? `you are not logged in to ${nameOrUrl}` : `no server is called '${nameOrUrl}'`,
    {
      exitCode: exitCodes.notFound,
      hint: 'berth servers lists yours',
    },
  )
}

function isConfig(value: unknown): value is Partial<Config> {
  if (typeof value !== 'object' || value === null) return false
  const { servers = {}, default: name } = value as Partial<Config>
  const isNamed = name === undefined || typeof name === 'string'
  if (!isNamed || typeof servers !== 'object' || servers === null) return false
  return Object.values(servers).every(
    (server) => typeof server?.url === 'string' && typeof server.token === 'string',
  )
}
