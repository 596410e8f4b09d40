// ssh with the deploy key of a service: with exactly this key, and without the configuration, the agent and
// the keys of the user. What ssh reads and writes is in a folder that exists only while it runs.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../errors.ts'
import { type Environment, sshOptions } from './environment.ts'
import type { GitError } from './process.ts'
import { type RepositoryUrl, sshParts } from './repository.ts'
import { fingerprintOf } from './ssh-key.ts'

/** How the repositories of a service are read over ssh. */
export interface SshAccess {
  /** Makes, shows or replaces the deploy key of the service. */
  command: string
  /** Without it, ssh uses the configuration and the keys of the user that runs the daemon. */
  key: SshKey | null
}

export interface SshKey {
  privateKey: string
  /** For the folders of the processes. */
  directory: string
  /** The keys of hosts that were met before. A host has no others. */
  pinned(): readonly HostKey[]
  /** Gets the key that a host without one has shown, after a success. */
  pin(found: HostKey[]): Promise<void>
}

export interface HostKey {
  /** As in known_hosts. */
  host: string
  type: string
  /** In base64. */
  key: string
}

const keyFile = 'key'
const hostsFile = 'known_hosts'
const folderVariable = 'BERTH_GIT_SSH'
/** The longest known, of RSA with 16,384 bits, has some 2,800 characters. */
const maxKeyLength = 8192

/** For the shell of git. Of a path, ssh would expand `%`, `~` and more. */
function commandFor(isPinned: boolean): string {
  const options = [
    '-F /dev/null',
    sshOptions,
    `-i ${keyFile} -o IdentitiesOnly=yes -o IdentityAgent=none -o PreferredAuthentications=publickey`,
    `-o UserKnownHostsFile=${hostsFile} -o GlobalKnownHostsFile=/dev/null`,
    '-o UpdateHostKeys=no -o CheckHostIP=no -o HashKnownHosts=no',
    // A pinned host could otherwise show a new key of another type.
    `-o StrictHostKeyChecking=${isPinned ? 'yes' : 'accept-new'}`,
  ]
  return `cd "$${folderVariable}" && exec ssh ${options.join(' ')}`
}

/** Gives `run` the variables with which git, and a shell, connect with this key. Pins the host's key. */
export async function withSshKey<T>(
  key: SshKey,
  repository: RepositoryUrl,
  run: (variables: Environment) => Promise<T>,
): Promise<T> {
  const host = knownName(repository)
  const pinned = key.pinned().filter((one) => one.host === host)
  await mkdir(key.directory, { recursive: true, mode: 0o700 })
  const folder = await mkdtemp(join(key.directory, 'ssh-'))
  const write = (name: string, text: string) =>
    writeFile(join(folder, name), text, { mode: 0o600, flag: 'wx' })
  try {
    await write(keyFile, key.privateKey)
    await write(hostsFile, pinned.map((one) => `${one.host} ${one.type} ${one.key}\n`).join(''))
    const isPinned = pinned.length > 0
    const result = await run({ [folderVariable]: folder, GIT_SSH_COMMAND: commandFor(isPinned) })
    if (!isPinned) await key.pin(parseKnownHosts(await readFile(join(folder, hostsFile), 'utf8'), host))
    return result
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The host of an ssh address as ssh writes it into known_hosts. */
function knownName(repository: RepositoryUrl): string {
  const { hostname, port } = sshParts(repository)!
  return port === '' ? hostname : `[${hostname}]:${port}`
}

function parseKnownHosts(text: string, host: string): HostKey[] {
  return text.split('\n').flatMap((line) => {
    const [name, type = '', key = ''] = line.split(' ')
    const isKey = /^[\w@.-]{1,64}$/.test(type) && /^[\w+/]+=*$/.test(key) && key.length <= maxKeyLength
    return name === host && isKey ? [{ host, type, key }] : []
  })
}

/** What it means that ssh refused the host; null for another failure. */
export function hostKeyFailure(
  error: GitError,
  repository: RepositoryUrl,
  { command, key }: SshAccess,
): Failure | null {
  const output = error.outputLines.join('\n')
  const host = repository.kind === 'ssh' && key !== null ? knownName(repository) : null
  const pinned = host === null ? [] : key!.pinned().filter((one) => one.host === host)
  if (pinned.length === 0 || !output.includes('Host key verification failed')) return null
  const known = pinned.map((one) => `${one.type} ${fingerprintOf(one.key)}`).join(', ')
  const shown = /SHA256:[\w+/]{43}/.exec(output)?.[0] ?? 'another one'
  const remedy = `if the server really has a new key: ${command} --forget-host`
  return new Failure(
    'host_key_changed',
    `cannot read ${repository.url}: the key of its host is ${shown}, but ${known} is pinned; ${remedy}`,
    remedy,
  )
}
