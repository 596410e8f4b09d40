// The project file: `berth.json` in this folder or a parent names the server and the service. It comes with
// a repository, so it may only choose among known servers. Anyone may put a file into a parent folder, so
// its owner must be the user, root or the owner of this folder.
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { size } from '../../quantities.ts'
import { CliFailure, usageFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { parseJsonOf } from './json-file.ts'

const longestBytes = 64 * 1024

export interface Project {
  path: string
  server: string | undefined
  service: string | undefined
}

export function findProject(folder: string): Project | null {
  for (let directory = folder; ; directory = dirname(directory)) {
    const path = join(directory, 'berth.json')
    const file = readUntrustedFile(path, longestBytes)
    if (file) {
      assertTrustedOwner(path, file.uid, folder)
      return readProject(path, file.text)
    }
    if (dirname(directory) === directory) return null
  }
}

function assertTrustedOwner(path: string, uid: number, folder: string): void {
  if ([0, process.getuid?.(), statSync(folder).uid].includes(uid)) return
  throw new CliFailure(`${path} belongs to another user`, { hint: 'copy it if you trust its content' })
}

/** The given service, or else that of the project file. Throws a usage failure without either. */
export function requireServiceName({ cwd }: Pick<Invocation, 'cwd'>, name: string | undefined): string {
  const chosen = name ?? findProject(cwd)?.service
  if (chosen) return chosen
  throw whichService()
}

/** A usage failure. `why` explains which lookup failed. */
export function whichService(why?: string): CliFailure {
  const way = 'give its name, or put {"service": "NAME"} into berth.json here'
  return usageFailure('which service?', why === undefined ? way : `${why}\n${way}`)
}

function readProject(path: string, text: string): Project {
  const parsed = parseJsonOf(path, text)
  const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
  const { server, service } = (isObject ? parsed : {}) as Record<string, unknown>
  const isText = (value: unknown) => value === undefined || typeof value === 'string'
  if (!isObject || !isText(server) || !isText(service)) {
    throw new CliFailure(`${path} is not valid`, {
      hint: 'expected {"server": "NAME", "service": "NAME"}',
    })
  }
  if (service !== undefined && !/^[a-z][a-z0-9-]{0,60}$/.test(service as string)) {
    throw usageFailure(
      `${path} contains an invalid service name`,
      'a name has lower-case letters, digits and dashes',
    )
  }
  return { path, server: server as string | undefined, service: service as string | undefined }
}

interface Found {
  text: string
  uid: number
}

/** Null for a missing file or a folder. Throws CliFailure for a link, pipe or device, and above the limit. */
export function readUntrustedFile(path: string, limitBytes: number): Found | null {
  const seen = orFailure(path, () => lstatSync(path, { throwIfNoEntry: false }))
  if (seen === undefined || seen.isDirectory()) return null
  if (!seen.isFile()) throw new CliFailure(`${path} is not a regular file`, { hint: 'remove it' })
  // The file may have been replaced: it is opened without following a link or waiting for a pipe.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = orFailure(path, () => openSync(path, flags))
  try {
    const { size: sizeBytes, uid } = fstatSync(file)
    if (sizeBytes > limitBytes) throw new CliFailure(`${path} is larger than ${size(limitBytes)}`)
    const bytes = Buffer.alloc(limitBytes)
    return { text: bytes.subarray(0, readSync(file, bytes)).toString('utf8'), uid }
  } finally {
    closeSync(file)
  }
}

function orFailure<T>(path: string, look: () => T): T {
  try {
    return look()
  } catch (error) {
    throw new CliFailure(`cannot read ${path}: ${(error as Error).message}`)
  }
}
