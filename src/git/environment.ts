// The complete environment of a git process. Only the variables named here are passed on, so that no
// configuration, credential, prompt or hook of the host or its users takes effect.
import { markerVariable } from '../process-groups.ts'
import { type Credentials, credentialConfig, credentialVariables } from './credentials.ts'
import { proxyVariables } from './remote-host.ts'
import type { RepositoryKind, RepositoryUrl } from './repository.ts'

export type Environment = Record<string, string>

/** Git may use only these protocols. */
const protocols: Record<RepositoryKind, string> = {
  https: 'https',
  http: 'http',
  ssh: 'ssh',
  path: 'file',
}

export const sshOptions = [
  '-o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=15 -o ServerAliveCountMax=4',
  // A shared connection would continue in the background, where a kill does not reach it.
  '-o ControlMaster=no -o ControlPath=none',
].join(' ')

const sharedConfig: [key: string, value: string][] = [
  ['core.hooksPath', '/dev/null'],
  ['core.attributesFile', '/dev/null'],
  ['core.symlinks', 'true'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['advice.detachedHead', 'false'],
  // v2.0-rc1 is older than v2.0.
  ['versionsort.suffix', '-'],
]

const httpConfig: [key: string, value: string][] = [
  // remote.ts follows redirects and checks each host.
  ['http.followRedirects', 'false'],
  // A transfer slower than this many bytes per second, for this many seconds, has stalled.
  ['http.lowSpeedLimit', '1000'],
  ['http.lowSpeedTime', '60'],
]

/** For commands that only read local data; git may use no protocol at all. */
export function readingEnvironment(marker: string): Environment {
  return {
    PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    // No home: curl would read ~/.netrc.
    HOME: '/dev/null',
    // Messages are parsed and shown to users: in English, with unescaped file names.
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: '',
    [markerVariable]: marker,
  }
}

/** For commands that write the local repository and its files. */
export function writingEnvironment(marker: string): Environment {
  return { ...readingEnvironment(marker), ...configVariables(sharedConfig) }
}

/** For commands that contact the remote. `ssh` has the variables of a deploy key. */
export function remoteEnvironment(
  repository: RepositoryUrl,
  credentials: Credentials | null,
  { marker, pinned, ssh }: { marker: string; pinned: string | null; ssh: Environment | null },
): Environment {
  const environment = { ...writingEnvironment(marker), GIT_ALLOW_PROTOCOL: protocols[repository.kind] }
  if (repository.kind === 'path') return environment
  if (repository.kind === 'ssh') return { ...environment, ...(ssh ?? userSsh()), GIT_SSH_VARIANT: 'ssh' }
  const pin: typeof httpConfig = pinned === null ? [] : [['http.curloptResolve', pinned]]
  const config = [...sharedConfig, ...httpConfig, ...pin]
  if (credentials === null) return { ...environment, ...networkVariables(), ...configVariables(config) }
  const helped = configVariables([...config, ...credentialConfig(new URL(repository.url).origin)])
  return { ...environment, ...networkVariables(), ...credentialVariables(credentials), ...helped }
}

/** ssh with the configuration and the keys of the user that runs the daemon. */
function userSsh(): Environment {
  const command = `ssh ${sshOptions} -o StrictHostKeyChecking=accept-new`
  return { ...inherited(['HOME']), GIT_SSH_COMMAND: command }
}

/** A curl with GnuTLS ignores SSL_CERT_FILE, so the variables are translated to git's own. */
function networkVariables(): Environment {
  const { SSL_CERT_FILE: file, SSL_CERT_DIR: directory } = process.env
  return {
    ...inherited([...proxyVariables, ...proxyVariables.map((name) => name.toLowerCase())]),
    ...(file ? { GIT_SSL_CAINFO: file } : {}),
    ...(directory ? { GIT_SSL_CAPATH: directory } : {}),
  }
}

function inherited(names: string[]): Environment {
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])))
}

function configVariables(config: [key: string, value: string][]): Environment {
  const pairs = config.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ])
  return { GIT_CONFIG_COUNT: String(config.length), ...Object.fromEntries(pairs) }
}
