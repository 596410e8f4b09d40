// The commands of `berthd` for backups, for people on the host itself. Each returns what it prints.
import { existsSync, statSync } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { isHeld, releaseDirectory } from '../../storage/hold.ts'
import { askSecret, askTwice, readLine } from '../ask-secret.ts'
import { readConfig } from '../config/config.ts'
import { serverBackupName } from '../domain/backup-files.ts'
import { Failure, invalidRequest, messageOf } from '../errors.ts'
import { openFolder } from '../object-storage/folder.ts'
import { measured } from '../object-storage/measured.ts'
import { size } from '../quantities.ts'
import type { Lock, Unlock } from '../server-backup/age-file.ts'
import { withBackup } from '../server-backup/backup.ts'
import { recordCommand } from '../server-backup/command-audit.ts'
import { createRecoveryKey, fingerprintOf, parseRecoveryKey, readRecipient } from '../server-backup/keys.ts'
import { restoreServer } from '../server-backup/restore.ts'

export const backupHelp = `usage: berthd backup [FILE | FOLDER | -] [--data-dir DIR] [--passphrase]

Writes one encrypted file with everything that a server needs to continue on
another machine, also while it runs; - is standard output:

  berthd backup /mnt/backups --data-dir /var/lib/berth
  berthd backup - | ssh backup@example.com 'cat > berth.backup.age'

It is encrypted to the key of berthd backup-key. With --passphrase, a passphrase
opens it instead: asked for twice, or one line of standard input.
Disks of services and images are not included.
`

export const backupKeyHelp = `usage: berthd backup-key [--data-dir DIR]

Makes a new recovery key and prints it, once. The server keeps only its public
half, which cannot open a backup. Store the key elsewhere. Backups that exist
need the key that the server had when they were made.
`

export const restoreHelp = `usage: berthd restore FILE [--data-dir DIR] [--key-file FILE] [--passphrase]
                       [--min-free-disk MIB]

Makes a data directory from a backup. The directory must be empty or missing.
The recovery key is asked for, is one line of standard input, or is in a file:

  berthd restore berth-20260102T030405Z.backup.age --data-dir /var/lib/berth
  ssh backup@example.com cat berth.backup.age | berthd restore - --key-file key

With --passphrase, a passphrase is expected in its place. It stops before less space
is free than --min-free-disk says, 1024 MiB by default.
`

export const activateHelp = `usage: berthd activate [--data-dir DIR]

Activates a restored server, also while it runs: from now on it runs schedules,
renews certificates and tokens, and empties the trash. Stop the old server first.
`

/** Throws `backup_key_missing`, `backup_failed` and the codes of an unusable data directory. */
export async function backupCommand(args: string[], stdin: NodeJS.ReadStream): Promise<string> {
  const own = {
    passphrase: { type: 'boolean' },
    'for-daemon': { type: 'boolean' },
    data: { type: 'string' },
  } as const
  const { config, file, flags } = parse(args, own, backupHelp)
  const dataDir = requireDataDirectory(config['data-dir'])
  const isOfDaemon = flags['for-daemon'] === true
  if (isOfDaemon) endWith(stdin)
  const lock = flags.passphrase ? { passphrase: await newPassphrase(stdin) } : recipientOf(dataDir)
  // Before the copy, which has the entry too.
  if (!isOfDaemon) await recordCommand(dataDir, 'server-backup.create')
  const options = { dataDir, prefix: config.prefix, lock, data: flags.data && JSON.parse(flags.data) }
  const keyFingerprint = 'recipient' in lock ? fingerprintOf(lock.recipient) : null
  // The daemon stores the bytes, and reads them back.
  if (isOfDaemon) process.stderr.write(`key ${keyFingerprint}\n`)
  if (file === '-') return backupToOutput(options)
  return withBackup(options, async ({ manifest, bytes }) => {
    const given = resolve(file ?? '.')
    const isFolder = existsSync(given) && statSync(given).isDirectory()
    const path = isFolder ? join(given, serverBackupName(manifest.prefix, manifest.created_at)) : given
    const store = openFolder({ directory: dirname(path), isOwn: false })
    const { signal } = new AbortController()
    const stored = await store.put(basename(path), bytes, signal)
    const { content, facts } = measured((await store.get(basename(path), signal)).content)
    for await (const _ of content);
    if (facts().sha256 !== stored.sha256) {
      throw new Failure('backup_failed', `${path} does not contain what was written to it`)
    }
    const key = keyFingerprint === null ? 'the passphrase' : `the key ${keyFingerprint}`
    return `${path} (${size(stored.sizeBytes)}) can be restored with ${key}.`
  })
}

/** Standard input is open as long as the daemon that started this process lives. */
function endWith(stdin: NodeJS.ReadStream): void {
  // A file, such as /dev/null, says nothing about a daemon.
  if (!('unref' in stdin)) throw invalidRequest('--for-daemon needs a pipe of a running berthd')
  stdin.on('close', () => process.exit(1)).resume()
  stdin.unref()
}

async function backupToOutput(options: Parameters<typeof withBackup>[0]): Promise<string> {
  if (process.stdout.isTTY) throw invalidRequest('a backup cannot be written to a terminal', 'name a file')
  await withBackup(options, ({ bytes }) => pipeline(bytes, process.stdout, { end: false }))
  return ''
}

function recipientOf(dataDir: string): Lock {
  const recipient = readRecipient(dataDir)
  if (recipient !== null) return { recipient }
  throw new Failure(
    'backup_key_missing',
    'this server has no key for backups yet',
    'berthd backup-key makes it; or use --passphrase',
  )
}

const leastPassphraseLength = 12

async function newPassphrase(stdin: NodeJS.ReadStream): Promise<string> {
  const check = (passphrase: string) => {
    if (passphrase.length >= leastPassphraseLength) return
    throw invalidRequest(`the passphrase must have at least ${leastPassphraseLength} characters`)
  }
  const passphrase = stdin.isTTY ? await askTwice(stdin, 'passphrase', check) : await readLine(stdin)
  check(passphrase)
  return passphrase
}

export async function backupKeyCommand(args: string[]): Promise<string> {
  const { config } = parse(args, {}, backupKeyHelp)
  const dataDir = requireDataDirectory(config['data-dir'])
  const former = readRecipient(dataDir)
  await recordCommand(dataDir, 'server.create_recovery_key')
  const { key, recipient } = await createRecoveryKey(dataDir)
  const lines = [
    `The recovery key of this server, with the fingerprint ${fingerprintOf(recipient)}:`,
    '',
    `  ${key}`,
    '',
    'Store it where you will find it without this server. It is not shown again, and',
    'without it no backup can be restored.',
  ]
  if (former !== null) {
    lines.push(`Backups that exist still need the key with the fingerprint ${fingerprintOf(former)}.`)
  }
  return lines.join('\n')
}

/** Throws what `restoreServer` throws. */
export async function restoreCommand(args: string[], stdin: NodeJS.ReadStream): Promise<string> {
  const own = { 'key-file': { type: 'string' }, passphrase: { type: 'boolean' } } as const
  const { config, file, flags } = parse(args, own, restoreHelp)
  if (file === null)
    throw new Failure('invalid_option', 'name the backup to restore', 'berthd restore --help')
  const source = file === '-' ? stdin : await openBackup(file)
  const secret = await readSecret(stdin, { ...flags, isPiped: file === '-' })
  const unlock: Unlock = flags.passphrase ? { passphrase: secret } : { key: parseRecoveryKey(secret) }
  const dataDir = config['data-dir']
  const options = { dataDir, unlock, minFreeDiskMb: config['min-free-disk'] }
  const { prefix, created_at, berth_version } = await restoreServer(source, options)
  return [
    `${dataDir} is the server as it was at ${created_at} (Berth ${berth_version}).`,
    `Start it with: berthd --data-dir ${dataDir} --prefix ${prefix}`,
    'It serves, but runs no schedule and renews nothing, until: berthd activate',
  ].join('\n')
}

/** Throws `not_found` for a folder that is not a data directory. */
export async function activateCommand(args: string[]): Promise<string> {
  const { config } = parse(args, {}, activateHelp)
  const dataDir = requireDataDirectory(config['data-dir'])
  if (!isHeld(dataDir)) return `${dataDir} was active already.`
  await recordCommand(dataDir, 'server.activate')
  releaseDirectory(dataDir)
  return `${dataDir} is active: schedules, renewals and notifications run from now on.`
}

function requireDataDirectory(path: string): string {
  if (existsSync(join(path, 'store', 'data.mdb'))) return path
  throw new Failure('not_found', `${path} is not the data directory of a Berth server`)
}

async function openBackup(path: string): Promise<AsyncIterable<Uint8Array>> {
  try {
    return (await open(path, 'r')).createReadStream({ highWaterMark: 256 * 1024 })
  } catch (error) {
    throw new Failure('not_found', `the backup cannot be read: ${messageOf(error)}`)
  }
}

async function readSecret(
  stdin: NodeJS.ReadStream,
  from: { 'key-file'?: string; passphrase?: boolean; isPiped: boolean },
): Promise<string> {
  if (from['key-file'] !== undefined) {
    const content = await readFile(from['key-file'], 'utf8').catch((error: unknown) => {
      throw new Failure('not_found', `the key cannot be read: ${messageOf(error)}`)
    })
    return from.passphrase ? content.split(/\r?\n/, 1)[0]! : content
  }
  if (from.isPiped) {
    const hint = 'pass the key with --key-file'
    throw invalidRequest('standard input is the backup, so the key cannot be asked for', hint)
  }
  if (!stdin.isTTY) return readLine(stdin)
  return askSecret(stdin, from.passphrase ? 'Passphrase' : 'Recovery key')
}

type Flags = Record<string, { type: 'string' | 'boolean' }>

/** At most one file; the other options are those of the daemon, so that its variables count too. */
function parse<Own extends Flags>(args: string[], own: Own, help: string) {
  const common = {
    'data-dir': { type: 'string' },
    prefix: { type: 'string' },
    'min-free-disk': { type: 'string' },
  } as const
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { ...own, ...common },
      allowPositionals: true,
    })
    if (positionals.length > 1) throw new Error(`unexpected argument ${positionals[1]}`)
    const given = Object.keys(common).flatMap((name) => {
      const value = (values as Record<string, string | undefined>)[name]
      return value === undefined ? [] : [`--${name}=${name === 'data-dir' ? resolve(value) : value}`]
    })
    return {
      config: readConfig(given, process.env),
      file: positionals[0] ?? null,
      flags: values as { 'key-file'?: string; passphrase?: boolean; 'for-daemon'?: boolean; data?: string },
    }
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure('invalid_option', messageOf(error), help.split('\n')[0])
  }
}
