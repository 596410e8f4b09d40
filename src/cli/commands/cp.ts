// `berth cp`: files into and out of instances and disks.
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { basename, dirname, posix, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import type { PathFacts } from '../../api/file.ts'
import { count, size } from '../../quantities.ts'
import { piecesOf, type Query, servicePath } from '../client/client.ts'
import type { Cli } from '../client/session.ts'
import type { BerthCommand } from '../command.ts'
import { requireServiceName } from '../config/project.ts'
import { CliFailure, exitCodes, usageFailure } from '../failure.ts'
import { type Received, type Target, unpackInto } from '../files/incoming.ts'
import { findSource, packLocal } from '../files/outgoing.ts'
import { parseWholeNumber } from '../service/setting-flags.ts'
import { plain } from '../terminal/output.ts'
import { showStep } from '../terminal/phase-line.ts'

export function addCopyCommands(program: BerthCommand): void {
  program
    .command('cp')
    .argument('<from>', 'a path here, SERVICE:/path, disk:NAME:/path, or - for a tar on standard input')
    .argument('<to>', 'the same; - for a tar on standard output')
    .description('copy files into or out of an instance or a disk')
    .option('--instance <number>', 'this instance, from 0 (by default the first)', parseWholeNumber)
    .examples(
      'berth cp seed.sql shop:/tmp/seed.sql',
      'berth cp shop:/data/uploads backup/',
      'berth cp photos/. shop:/data/photos   # what is in the folder',
      'berth cp shop:/data - | gzip > data.tar.gz',
      'berth cp - shop:/data < data.tar',
      'berth cp disk:shop:/ old-data',
    )
    .runs(copy)
}

interface Remote {
  /** `/services/shop/files` */
  route: string
  query: Query & { path: string }
}

async function copy(cli: Cli, from: string, to: string, { instance }: { instance?: number }): Promise<void> {
  const source = parseRemote(cli, from, instance)
  const target = parseRemote(cli, to, instance)
  if ((source === null) === (target === null))
    throw usageFailure(
      'one side is a path here and the other is SERVICE:/path',
      'berth cp notes.txt shop:/data/',
    )
  if (source) return to === '-' ? printTar(cli, source) : download(cli, source, to)
  return from === '-' ? sendTar(cli, target!) : upload(cli, from, target!)
}

/** Null for a path on this machine, which may contain a colon after a slash. */
function parseRemote(cli: Cli, given: string, instance: number | undefined): Remote | null {
  const [, disk, service, path] = /^(?:disk:([^:/]+)|([^:/]*)):(.*)$/s.exec(given) ?? []
  if (path === undefined) return null
  if (!path.startsWith('/')) throw usageFailure(`${given}: the path after the colon must begin with a slash`)
  if (disk !== undefined && instance !== undefined) throw usageFailure('a disk has no instances')
  if (disk !== undefined) return { route: `/disks/${encodeURIComponent(disk)}/files`, query: { path } }
  const name = requireServiceName(cli, service === '' ? undefined : service)
  return { route: `${servicePath(name)}/files`, query: { path, instance } }
}

async function printTar(cli: Cli, { route, query }: Remote): Promise<void> {
  const { client, stdout, out } = cli
  if (out.isTerminal)
    throw usageFailure(
      'a tar is binary data, and standard output is a terminal',
      'berth cp SERVICE:/path - > FILE.tar',
    )
  const response = await client.open('GET', route, { query })
  for await (const piece of piecesOf(cli, response)) if (!stdout.write(piece)) await once(stdout, 'drain')
}

async function sendTar(cli: Cli, remote: Remote): Promise<void> {
  if (cli.stdin.isTTY) throw usageFailure('a tar is read from standard input, which is a terminal')
  await put(cli, remote, cli.stdin)
}

async function put({ client }: Cli, { route, query }: Remote, body: Readable): Promise<void> {
  await client.open('PUT', route, { query, body, headers: { 'content-type': 'application/x-tar' } })
}

async function download(cli: Cli, source: Remote, to: string): Promise<void> {
  const { client, out } = cli
  const target = await findTarget(cli, source, to)
  let bytes = 0
  async function* counted(pieces: AsyncIterable<Buffer>) {
    for await (const piece of pieces) {
      bytes += piece.length
      yield piece
    }
  }
  const step = {
    name: 'copying',
    detail: () => size(bytes),
    summary: ({ files }: Received) => `${count(files, 'file')}, ${size(bytes)}`,
  }
  const { files, skipped } = await showStep(out, step, async () => {
    const response = await client.open('GET', source.route, { query: source.query })
    return unpackInto(target, counted(piecesOf(cli, response)))
  })
  report(cli, { files, bytes, skipped })
}

/** As `cp -r` does: into a folder that exists, else under the new name. */
async function findTarget({ cwd }: Cli, { query: { path } }: Remote, to: string): Promise<Target> {
  const absolute = resolve(cwd, to)
  const isContent = /(^|\/)\.?\/*$/.test(path)
  const found = await stat(absolute).catch(() => null)
  if (found?.isDirectory()) return { folder: absolute, name: isContent ? null : posix.basename(path) }
  const isFolderNeeded = to.endsWith('/') || (isContent && found !== null)
  if (isFolderNeeded) throw usageFailure(`${to} is not a folder`, `mkdir -p ${to}`)
  if (!(await stat(dirname(absolute)).catch(() => null))?.isDirectory())
    throw usageFailure(`there is no folder ${dirname(absolute)}`)
  return { folder: dirname(absolute), name: basename(absolute) }
}

async function upload(cli: Cli, from: string, target: Remote): Promise<void> {
  const source = await findSource(cli.cwd, from)
  const { folder, name, owner } = await findPlace(cli, target, source)
  let bytes = 0
  const skipped: string[] = []
  const step = { name: 'copying', detail: () => size(bytes), summary: () => size(bytes) }
  await showStep(cli.out, step, async () => {
    const body = await packLocal(source, {
      name,
      owner,
      signal: cli.signal,
      onPacked: (packed) => {
        bytes += packed
      },
      onSkipped: (path) => skipped.push(path),
    })
    let failure: Error | null = null
    body.once('error', (error) => {
      failure = error
    })
    try {
      await put(cli, { ...target, query: { ...target.query, path: folder } }, body)
    } catch (error) {
      // The connection fails with the body: the reason is what could not be read.
      throw failure ?? error
    }
  })
  report(cli, { bytes, skipped })
}

interface Place {
  folder: string
  name: string
  owner: { uid: number; gid: number }
}

/** As `cp -r` does. The files get the owner of the folder. */
async function findPlace(
  cli: Cli,
  target: Remote,
  { path, isFolder, isContent }: { path: string; isFolder: boolean; isContent: boolean },
): Promise<Place> {
  const given = target.query.path
  const found = await inspect(cli, target, given)
  const name = isContent ? '' : basename(path)
  if (found?.kind === 'folder') return { folder: found.path, name, owner: ownerOf(found) }
  if (found && (isFolder || found.kind !== 'file'))
    throw new CliFailure(`${given} exists and is not a folder`)
  if (found)
    return { folder: posix.dirname(found.path), name: posix.basename(found.path), owner: ownerOf(found) }
  const parentPath = posix.dirname(given)
  const parent = given.endsWith('/') ? null : await inspect(cli, target, parentPath)
  if (parent?.kind === 'folder')
    return { folder: parent.path, name: posix.basename(given), owner: ownerOf(parent) }
  throw new CliFailure(`there is no folder ${given.endsWith('/') ? given : parentPath} there`, {
    exitCode: exitCodes.notFound,
    hint: 'berth ssh SERVICE -- mkdir -p PATH creates one',
  })
}

function ownerOf({ uid, gid }: PathFacts) {
  return { uid, gid }
}

/** Null if nothing is there. */
async function inspect({ client }: Cli, { route, query }: Remote, path: string): Promise<PathFacts | null> {
  try {
    return await client.call<PathFacts>('GET', `${route}/facts`, { query: { ...query, path } })
  } catch (error) {
    if (error instanceof CliFailure && error.code === 'path_not_found') return null
    throw error
  }
}

function report({ out }: Cli, copied: { files?: number; bytes: number; skipped: string[] }): void {
  if (out.isJson) out.json(copied)
  if (copied.skipped.length === 0) return
  const names = plain(copied.skipped.slice(0, 5).join(', '))
  const what = `${copied.skipped.length} left out (devices, pipes, links that lead out)`
  out.say(` ${out.tint('yellow', '!')} ${what}: ${names}`)
}
