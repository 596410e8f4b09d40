// `berth db backup`, `backups` and `restore`, and the same of `berth disks`: data as a file, and back.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { fstatSync } from 'node:fs'
import type { Backup, Restore } from '../../../api/backup.ts'
import type { Datastore } from '../../../api/datastore.ts'
import { size } from '../../../quantities.ts'
import { piecesOf, readJson } from '../../client/client.ts'
import type { Cli } from '../../client/session.ts'
import type { BerthCommand } from '../../command.ts'
import { datastorePath } from '../../datastore/datastore.ts'
import { CliFailure, interruption, usageFailure } from '../../failure.ts'
import { printDone, printNext } from '../../follow-up.ts'
import { age } from '../../terminal/ages.ts'
import type { Style } from '../../terminal/output.ts'
import { showStep, showWork } from '../../terminal/phase-line.ts'
import { confirmByName } from '../../terminal/prompts.ts'
import { printList } from '../../terminal/table.ts'

/** What the data is of. */
export interface Subject {
  /** The command above. */
  group: 'db' | 'disks'
  noun: string
  nouns: string
  /** In examples. */
  name: string
  file: string
  pathOf(name: string): string
}

export const datastoreSubject: Subject = {
  group: 'db',
  noun: 'the datastore',
  nouns: 'datastores',
  name: 'shop-db',
  file: 'shop-db.dump',
  pathOf: datastorePath,
}

export const diskSubject: Subject = {
  group: 'disks',
  noun: 'the service, or the disk',
  nouns: 'disks',
  name: 'shop',
  file: 'shop.tar.gz',
  pathOf: (name) => `/disks/${encodeURIComponent(name)}`,
}

export function addBackupCommands(parent: BerthCommand, subject: Subject): void {
  const { group, noun, nouns, name, file } = subject
  parent
    .command('backup')
    .argument('<name>', noun)
    .description('create and verify a backup; to a file, or else kept on the server')
    .option('--keep', 'also keep it on the server')
    .examples(`berth ${group} backup ${name} > ${file}`, `berth ${group} backup ${name}`)
    .runs((cli, name: string, options: { keep?: boolean }) => backup(cli, subject, name, options))
  parent
    .command('backups')
    .argument('[name]', `only backups of ${noun}`)
    .description(`list backups, including those of deleted ${nouns}`)
    .option('--get <id>', 'print the file of this backup')
    .option('--rm <id>', 'delete this backup')
    .examples(`berth ${group} backups ${name}`, `berth ${group} backups --get bak-01jexample > ${file}`)
    .runs((cli, name: string | undefined, options: ListOptions) => listBackups(cli, subject, name, options))
}

export function addRestoreCommand(parent: BerthCommand, subject: Subject, ...examples: string[]): void {
  const { group, noun, name, file } = subject
  parent
    .command('restore')
    .argument('<name>', noun)
    .description('replace all data with those of a file or backup; an invalid one changes nothing')
    .option('--from <backup>', 'a backup on the server, instead of standard input')
    .option('--yes', 'do not ask')
    .examples(
      `berth ${group} restore ${name} < ${file}`,
      ...examples,
      `berth ${group} restore ${name} --from bak-01jexample`,
    )
    .runs((cli, name: string, options: RestoreOptions) => restore(cli, subject, name, options))
}

const nameIn = ({ datastore, service }: Pick<Backup, 'datastore' | 'service'>) => datastore ?? service ?? ''

async function backup(
  cli: Cli,
  { group, pathOf }: Subject,
  name: string,
  { keep }: { keep?: boolean },
): Promise<void> {
  const { client, out } = cli
  const isPrinted = !out.isTerminal && !out.isJson
  const backup = await awaitWork<Backup>(cli, {
    name: 'backing up',
    path: '/backups',
    begin: () => client.call('POST', `${pathOf(name)}/backups`),
  })
  if (out.isJson) return out.json(backup)
  if (!isPrinted) {
    printDone(cli, `${nameIn(backup)} was backed up and verified: ${backup.id}`)
    return printNext(cli, `berth ${group} backups --get ${backup.id} > ${backup.file.split('/').at(-1)}`)
  }
  await printBackup(cli, backup)
  if (!keep) await client.call('DELETE', `/backups/${backup.id}`)
  printDone(cli, `${nameIn(backup)} was backed up and verified${keep ? `: ${backup.id}` : ''}`)
}

interface ListOptions {
  get?: string
  rm?: string
}

const styles: Record<Backup['status'], Style> = {
  good: 'green',
  running: 'cyan',
  failed: 'red',
  deleting: 'red',
}

async function listBackups(
  cli: Cli,
  { group }: Subject,
  name: string | undefined,
  { get, rm }: ListOptions,
): Promise<void> {
  const { client, out } = cli
  if (get !== undefined) return download(cli, group, get)
  if (rm !== undefined) {
    await client.call('DELETE', `/backups/${encodeURIComponent(rm)}`)
    return printDone(cli, `${rm} is being deleted`)
  }
  const ofDisks = group === 'disks'
  const query = name === undefined ? {} : { [ofDisks ? 'disk' : 'datastore']: name }
  const all = await client.call<Backup[]>('GET', '/backups', { query })
  const backups = all.filter(({ kind }) => (kind === 'disk') === ofDisks)
  printList(out, backups, `no backups yet: \`berth ${group} backup ${name ?? 'NAME'}\` creates one`, [
    { heading: 'ID', text: ({ id }) => id },
    { heading: ofDisks ? 'SERVICE' : 'DATASTORE', text: (backup) => nameIn(backup), style: () => 'bold' },
    { heading: 'STATUS', text: ({ status }) => status, style: ({ status }) => styles[status] },
    {
      heading: 'SIZE',
      text: ({ size_bytes }) => (size_bytes === null ? '' : size(size_bytes)),
      isRight: true,
    },
    { heading: 'BY', text: ({ trigger }) => (trigger === 'schedule' ? 'schedule' : 'hand') },
    { heading: 'MADE', text: ({ created_at }) => age(created_at) },
    { heading: 'NOTE', text: ({ error }) => error ?? '', isFlexible: true },
  ])
}

async function download(cli: Cli, group: string, id: string): Promise<void> {
  if (cli.out.isTerminal)
    throw usageFailure(
      'a backup is binary data, and standard output is a terminal',
      `berth ${group} backups --get ${id} > FILE`,
    )
  await printBackup(cli, await cli.client.call<Backup>('GET', `/backups/${encodeURIComponent(id)}`))
}

interface RestoreOptions {
  from?: string
  yes?: boolean
}

async function restore(
  cli: Cli,
  { group, pathOf }: Subject,
  name: string,
  { from, yes }: RestoreOptions,
): Promise<void> {
  const { client, out } = cli
  const path = `${pathOf(name)}/restores`
  if (from === undefined && cli.stdin.isTTY) {
    throw usageFailure(
      'the data is read from standard input, which is a terminal',
      `berth ${group} restore ${name} < FILE, or --from a backup`,
    )
  }
  if (from !== undefined && !yes) {
    // An id is confirmed by the name.
    const known = group === 'db' ? (await client.call<Datastore>('GET', pathOf(name))).name : name
    const effect = `This replaces all data of ${known}`
    await confirmByName(cli, { name: known, effect, kept: 'nothing was changed' })
  }
  const work = { name: 'restoring', path: '/restores', begin: () => upload(cli, path) }
  const restored =
    from === undefined ? await awaitWork<Restore>(cli, work) : await restoreFrom(cli, pathOf(name), from)
  if (out.isJson) return out.json(restored)
  printDone(cli, `${nameIn(restored)} now has the data of ${restored.backup_id ?? 'the file'}`)
}

export function restoreFrom(cli: Cli, path: string, backupId: string): Promise<Restore> {
  const begin = () => cli.client.call<Restore>('POST', `${path}/restores`, { body: { backup_id: backupId } })
  return awaitWork<Restore>(cli, { name: 'restoring', path: '/restores', begin })
}

/** A file has a size, a pipe does not. */
async function upload({ client, signal, stdin }: Cli, path: string): Promise<Restore> {
  const input = stdin.fd === undefined ? null : fstatSync(stdin.fd)
  const length = input?.isFile() ? { 'content-length': String(input.size) } : {}
  const headers = { 'content-type': 'application/octet-stream', ...length }
  const response = await client.open('POST', `${path}/upload`, { body: stdin, headers })
  return readJson<Restore>(response, { url: client.url, signal })
}

type Work = Backup | Restore

/** Throws CliFailure if the work failed. */
async function awaitWork<W extends Work>(
  cli: Cli,
  { name, path, begin }: { name: string; path: string; begin: () => Promise<W> },
): Promise<W> {
  const over = await showWork<W>(cli, {
    name,
    detail: (work) => (work ? progressOf(work) : ''),
    summary: ({ error, size_bytes: bytes }) => (error === null ? size(bytes ?? 0) : null),
    begin,
    look: ({ id }) => cli.client.call<W>('GET', `${path}/${id}`),
    isUnderWay,
    interruption: (begun) => begun && interruption(`${begun.id} continues in the background`),
  })
  if (over.status === 'good' || over.status === 'done') return over
  const hint = name === 'restoring' ? 'nothing was changed: the previous data is still served' : undefined
  throw new CliFailure(`${nameIn(over)}: ${over.error ?? `the work is ${over.status}`}`, { hint })
}

function isUnderWay({ status }: Work): boolean {
  return status === 'running' || status === 'undoing'
}

/** `dumping, 12.4 MiB`, `checking, 3.1 MiB of 12.4 MiB` */
function progressOf({ status, phase, done_bytes: done, total_bytes: total }: Work): string {
  const amount = done === null ? '' : total === null ? size(done) : `${size(done)} of ${size(total)}`
  return [phase ?? status, amount].filter((text) => text !== '').join(', ')
}

/** Throws CliFailure if the downloaded bytes differ from those that the server verified. */
async function printBackup(cli: Cli, { id, size_bytes: sizeBytes, sha256 }: Backup): Promise<void> {
  const { client, out, stdout } = cli
  const response = await client.open('GET', `/backups/${id}/content`)
  const hash = createHash('sha256')
  let bytes = 0
  const step = {
    name: 'downloading',
    detail: () => `${size(bytes)} of ${size(sizeBytes ?? 0)}`,
    summary: () => size(bytes),
  }
  await showStep(out, step, async () => {
    for await (const piece of piecesOf(cli, response)) {
      hash.update(piece)
      bytes += piece.length
      if (!stdout.write(piece)) await once(stdout, 'drain')
    }
  })
  if (bytes === sizeBytes && hash.digest('hex') === sha256) return
  throw new CliFailure('the downloaded file is not the one that the server verified', {
    hint: 'delete the file and try again',
  })
}
