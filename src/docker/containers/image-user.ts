// The user that an image names, as in `USER`, as numbers. Names are resolved by the files of the image.
import { posix } from 'node:path'
import type { Container } from 'dockerode'
import { Failure } from '../../errors.ts'
import { orNull } from '../engine/client.ts'
import { readArchive } from './archive-entries.ts'
import type { EngineScope } from './find-container.ts'

export interface UserIds {
  uid: number
  gid: number
}

export interface OwnedFile extends UserIds {
  mode: number
}

/** Whether the user may do all of this with the file: 4 is reading, 2 writing, 1 running or entering it. */
export function grants({ uid, gid, mode }: OwnedFile, user: UserIds, bits: number): boolean {
  const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0
  return ((mode >> shift) & bits) === bits
}

/** A file of that size has all users of an image. */
const maxFileBytes = 1024 * 1024
const maxLinks = 10

/** `1000:1000` */
export function idsText({ uid, gid }: UserIds): string {
  return `${uid}:${gid}`
}

/** Also for an image that names no user. */
export function isRoot(user: string): boolean {
  return /^(0|root)?(:.*)?$/.test(user)
}

/** `node`, `1000` or `1000:staff` as numbers, by the files of a container. Null for an unknown name. */
export async function resolveUser(
  scope: Pick<EngineScope, 'engine'>,
  container: Container,
  user: string,
): Promise<UserIds | null> {
  const [name = '', group] = user.split(':')
  const users = await readRows(scope, container, '/etc/passwd')
  const row = users.find((fields) => fields[0] === name || fields[2] === name)
  const uid = toId(name) ?? toId(row?.[2])
  if (uid === null) return null
  if (group === undefined) return { uid, gid: toId(row?.[3]) ?? 0 }
  const groups = await readRows(scope, container, '/etc/group')
  const gid = toId(group) ?? toId(groups.find((fields) => fields[0] === group)?.[2])
  return gid === null ? null : { uid, gid }
}

function toId(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : null
}

/** The fields of each line; none if the file does not exist. */
async function readRows(
  scope: Pick<EngineScope, 'engine'>,
  container: Container,
  path: string,
): Promise<string[][]> {
  const text = (await orNull(readFile(scope, container, path))) ?? ''
  return text.split('\n').map((line) => line.split(':'))
}

/** Follows links, which images of Nix have in place of these files. */
function readFile(
  scope: Pick<EngineScope, 'engine'>,
  container: Container,
  path: string,
  links = 0,
): Promise<string> {
  return readArchive(scope.engine, { container, path }, async (next) => {
    const first = await next()
    if (first.done) return ''
    const { type, linkname } = first.value.header
    if (type !== 'symlink' || !linkname) return readText(first.value, path)
    const target = posix.resolve(posix.dirname(path), linkname)
    return links === maxLinks ? '' : readFile(scope, container, target, links + 1)
  })
}

async function readText(entry: AsyncIterable<unknown>, path: string): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of entry) {
    bytes += (chunk as Buffer).length
    if (bytes > maxFileBytes)
      throw new Failure('instance_failed', `${path} of the image is larger than 1 MiB`)
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString('utf8')
}
