// Chooses the server and the token of a command: flag, environment, project file, config, default.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { isPlainUrl } from '../client/client.ts'
import { CliFailure, usageFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { fileProblem } from '../terminal/standard-input.ts'
import { type Config, defaultUrl, findServer, isServerUrl, parseServerUrl } from './config.ts'
import type { Project } from './project.ts'

export interface ServerFlags {
  server?: string
  token?: string
  tokenFile?: string
}

export interface ServerChoice {
  /** The name, or the address of a server without a name. */
  name: string
  url: string
  token: string | undefined
  /** Whether it is only the default address: no flag, variable, file or login names a server. */
  isAssumed?: boolean
}

type Place = Pick<Invocation, 'env' | 'cwd' | 'stdin'>

interface Sources extends Place {
  flags: ServerFlags
  /** Called only if neither a flag nor the environment names a server. */
  findProject: () => Project | null
  config: Config
}

export function chooseServer({ flags, findProject, config, ...place }: Sources): ServerChoice {
  const { env } = place
  const token = configuredToken(flags, place)
  const named = flags.server ?? (env.BERTH_SERVER || undefined)
  if (named !== undefined) return withToken(lookUp(config, named), token)
  const project = findProject()
  if (project?.server) return withToken(lookUpForProject(config, project, project.server), token)
  if (config.default !== undefined) return withToken(lookUp(config, config.default), token)
  return { ...withToken(lookUp(config, defaultUrl), token), isAssumed: !findServer(config, defaultUrl) }
}

export function configuredToken(flags: ServerFlags, place: Place): string | undefined {
  const { env } = place
  if (flags.token !== undefined) return checkedToken(flags.token, '--token')
  if (flags.tokenFile !== undefined) return checkedToken(readToken(flags.tokenFile, place), flags.tokenFile)
  return env.BERTH_TOKEN ? checkedToken(env.BERTH_TOKEN, 'BERTH_TOKEN') : undefined
}

function readToken(path: string, { cwd, stdin }: Place): string {
  try {
    return readFileSync(path === '-' ? stdin.fd! : resolve(cwd, path), 'utf8')
  } catch (error) {
    const what = `cannot read the token from ${path}: ${fileProblem(error)}`
    throw usageFailure(what, 'name a file that has it, or save one with berth login')
  }
}

// Sent in a header: characters other than visible ASCII could end it and start another one.
function checkedToken(text: string, from: string): string {
  const token = text.trim()
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw usageFailure(`${from} does not contain a token`, 'a token is a single word, as the server showed it')
}

function withToken(choice: ServerChoice, token: string | undefined): ServerChoice {
  return token === undefined ? choice : { ...choice, token }
}

function lookUp(config: Config, nameOrUrl: string): ServerChoice {
  const server = findServer(config, nameOrUrl)
  if (server) return { name: server.name, ...server.server }
  if (isServerUrl(nameOrUrl)) {
    const url = parseServerUrl(nameOrUrl)
    return { name: url, url, token: undefined }
  }
  throw usageFailure(`no server is called '${nameOrUrl}'`, serversHint(config))
}

// Otherwise a repository could direct the environment's token to its own address.
function lookUpForProject(config: Config, project: Project, nameOrUrl: string): ServerChoice {
  const server = findServer(config, nameOrUrl)
  if (server) return { name: server.name, ...server.server }
  const login = isPlainUrl(nameOrUrl) ? `berth login ${parseServerUrl(nameOrUrl)}` : 'berth login URL'
  throw new CliFailure(`${project.path} requests the server ${nameOrUrl}, which is not one of yours`, {
    exitCode: usageFailure('').exitCode,
    hint: `if you trust it: ${login}; or choose another server with --server`,
  })
}

function serversHint(config: Config): string {
  const names = Object.keys(config.servers)
  const knownServers = names.length > 0 ? `your servers: ${names.join(', ')}` : 'you have no servers yet'
  return `${knownServers}; berth login URL --server NAME adds one`
}
