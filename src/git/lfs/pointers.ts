// The pointers of Git LFS in a checkout: small files that name the content that belongs in their place. They
// are written by strangers.
import { constants, open } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../../errors.ts'

export interface Pointer {
  /** Relative to the checkout. */
  path: string
  /** The path in messages. */
  name: string
  /** The SHA-256 of the content. */
  oid: string
  sizeBytes: number
}

interface PointerFile extends Pick<Pointer, 'path' | 'name'> {
  text: string
}

/** By the specification, a larger file is no pointer. */
const maxPointerBytes = 1024
const maxPointers = 200_000
const maxNameLength = 200

const versionLine = 'version https://git-lfs.github.com/spec/v1\n'
const form = /^version \S+\noid sha256:(?<oid>[0-9a-f]{64})\nsize (?<size>\d{1,15})\n$/

/** Of the paths that the attributes give to Git LFS, as `git ls-files --stage -z` lists them. */
export async function readPointerFiles(directory: string, listed: string): Promise<PointerFile[]> {
  const files: PointerFile[] = []
  for (const entry of entriesOf(listed)) {
    // Links and submodules have other modes.
    const path = /^100\d{3} [0-9a-f]+ 0\t(.+)$/s.exec(entry)?.[1]
    const text = path === undefined ? null : await readSmall(join(directory, path))
    if (!text?.startsWith(versionLine)) continue
    files.push({ path: path!, name: toName(path!), text })
    if (files.length > maxPointers)
      throw new Failure('source_invalid', `the source has more than ${maxPointers} files in Git LFS`)
  }
  return files
}

/** Not split at once: a list may have 64 MiB. */
function* entriesOf(listed: string): Iterable<string> {
  let start = 0
  for (let end = listed.indexOf('\0'); end !== -1; end = listed.indexOf('\0', start)) {
    yield listed.slice(start, end)
    start = end + 1
  }
}

/** Throws `source_invalid` for a file that only begins like a pointer. */
export function parsePointer({ path, name, text }: PointerFile): Pointer {
  const { oid, size } = form.exec(text)?.groups ?? {}
  if (oid === undefined)
    throw new Failure('source_invalid', `${name} is not a valid pointer of Git LFS: commit the file again`)
  return { path, name, oid, sizeBytes: Number(size) }
}

function toName(path: string): string {
  return path.replace(/\p{Cc}/gu, ' ').slice(0, maxNameLength)
}

/** Null for a larger file, and for a path that is not UTF-8. */
async function readSmall(path: string): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => null)
  if (file === null) return null
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxPointerBytes + 1), 0, maxPointerBytes + 1)
    // Attributes may have changed its line ends.
    const text = buffer.toString('utf8', 0, bytesRead).replaceAll('\r\n', '\n')
    return bytesRead > maxPointerBytes ? null : text
  } finally {
    await file.close()
  }
}
