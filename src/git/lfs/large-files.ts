// Replaces the pointers of a checkout by the files that they name. Our own client: the program git-lfs obeys
// `.lfsconfig`, follows redirects to any host, and has no limits.
import { createHash } from 'node:crypto'
import { chmod, constants, copyFile, type FileHandle, lstat, mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { withLinkedSignal } from '../../async/linked-signal.ts'
import { codeOf, Failure } from '../../errors.ts'
import { count, size } from '../../quantities.ts'
import { writingEnvironment } from '../environment.ts'
import { runGit } from '../process.ts'
import { diskFull, toSourceFailure } from '../remote-failure.ts'
import { type Download, type LfsObject, locateObjects } from './batch.ts'
import { type Pointer, parsePointer, readPointerFiles } from './pointers.ts'
import { type LfsLimits, requestLfs, toLfsFailure, unreachable } from './request.ts'
import { type LfsPlace, type LfsServer, openLfsServer } from './server.ts'

export interface LargeFilesPlace extends LfsPlace {
  /** How many bytes the files may have. */
  roomBytes(): Promise<number>
}

/** Objects that are asked for at a time: their addresses soon expire. */
const batchSize = 100
const downloadsAtOnce = 4

/**
 * Call while the checkout has its `.git`. Throws `source_invalid` (a pointer, or an object that is missing or
 * wrong), `git_remote_unreachable`, `insufficient_storage`, or the signal's reason.
 */
export async function fetchLargeFiles(place: LargeFilesPlace): Promise<void> {
  const { directory, onLine, signal } = place
  const files = await readPointerFiles(directory, await listTracked(place))
  if (files.length === 0) return
  if (place.repository.kind === 'path')
    return onLine('the files of Git LFS are not read from a path: the build gets pointers')
  const pointers = files.map(parsePointer)
  const totalBytes = pointers.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  await checkRoom(place, totalBytes)
  onLine(`fetching ${count(pointers.length, 'file')} of Git LFS, ${size(totalBytes)}`)
  const server = (await openLfsServer(place))!
  const objects = groupByObject(pointers)
  await mkdir(join(directory, '.git', 'berth-lfs'))
  for (let from = 0; from < objects.length; from += batchSize) {
    const some = objects.slice(from, from + batchSize)
    await fetchSome(place, server, some, signal)
  }
}

/** `git ls-files` lists them by their attributes, which are those of the checkout only. */
function listTracked({ directory: cwd, marker, signal }: LargeFilesPlace): Promise<string> {
  const quiet = { mask: (text: string) => text, onLine: () => undefined, signal }
  const args = ['ls-files', '--stage', '-z', '--', ':(attr:filter=lfs)']
  return runGit(args, { cwd, env: writingEnvironment(marker), ...quiet }).catch((error: unknown) => {
    throw toSourceFailure(error)
  })
}

async function checkRoom({ roomBytes }: LargeFilesPlace, totalBytes: number): Promise<void> {
  const room = Math.max(0, await roomBytes())
  if (totalBytes <= room) return
  const text = `the files of Git LFS have ${size(totalBytes)}, and ${size(room)} are free`
  throw new Failure('insufficient_storage', text)
}

interface Wanted extends LfsObject {
  paths: string[]
}

/** An object may be at several paths. */
function groupByObject(pointers: Pointer[]): Wanted[] {
  const objects = new Map<string, Wanted>()
  for (const { oid, sizeBytes, path, name } of pointers) {
    const known = objects.get(oid)
    if (known === undefined) objects.set(oid, { oid, sizeBytes, name, paths: [path] })
    else if (known.sizeBytes === sizeBytes) known.paths.push(path)
    else throw new Failure('source_invalid', `${known.name} and ${name} name one object with different sizes`)
  }
  return [...objects.values()]
}

/** Rejects when no download is left that could still write. */
async function fetchSome(place: LargeFilesPlace, server: LfsServer, some: Wanted[], outer: AbortSignal) {
  const { directory, hostRules } = place
  let fail = (_: unknown) => {}
  const watch = (end: (reason: unknown) => void) => {
    fail = end
    return () => undefined
  }
  await withLinkedSignal(outer, watch, async (signal) => {
    const limits = { hostRules, signal }
    const downloads = await locateObjects(server, some, limits)
    const queue = [...some]
    const work = async () => {
      for (let next = queue.shift(); next && !signal.aborted; next = queue.shift())
        await fetchOne(directory, next, downloads.get(next.oid)!, limits).catch(fail)
    }
    await Promise.all(Array.from({ length: downloadsAtOnce }, work))
    signal.throwIfAborted()
  })
}

async function fetchOne(directory: string, object: Wanted, download: Download, limits: LfsLimits) {
  const file = join(directory, '.git', 'berth-lfs', object.oid)
  await receive(file, object, download, limits)
  for (const [index, path] of object.paths.entries()) {
    const place = join(directory, path)
    limits.signal.throwIfAborted()
    const isLast = index === object.paths.length - 1
    const copy = isLast ? file : `${file}-copy`
    if (!isLast) await copyFile(file, copy, constants.COPYFILE_FICLONE)
    await chmod(copy, (await lstat(place)).mode & 0o777)
    await rename(copy, place)
  }
}

async function receive(file: string, object: Wanted, { url, headers }: Download, limits: LfsLimits) {
  const { name, sizeBytes, oid } = object
  const response = await requestLfs({ url, headers: {}, secretHeaders: headers }, limits)
  const hash = createHash('sha256')
  let receivedBytes = 0
  let output: FileHandle | null = null
  try {
    if (response.statusCode !== 200) throw unreachable(url, `it answered ${response.statusCode} for ${name}`)
    output = await open(file, 'wx')
    for await (const chunk of response as AsyncIterable<Buffer>) {
      receivedBytes += chunk.length
      if (receivedBytes > sizeBytes) throw wrong(name, url, `is larger than ${size(sizeBytes)}`)
      hash.update(chunk)
      await output.writeFile(chunk)
    }
  } catch (error) {
    throw /ENOSPC|EDQUOT/.test(codeOf(error)) ? diskFull() : toLfsFailure(url, error, limits.signal)
  } finally {
    response.destroy()
    await output?.close()
  }
  if (receivedBytes < sizeBytes)
    throw wrong(name, url, `ends after ${size(receivedBytes)} of ${size(sizeBytes)}`)
  if (hash.digest('hex') !== oid) throw wrong(name, url, 'has another SHA-256 than its pointer')
}

function wrong(name: string, url: URL, what: string): Failure {
  return new Failure('source_invalid', `what ${url.host} sent for ${name} in Git LFS ${what}`)
}
