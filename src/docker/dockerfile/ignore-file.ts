// Reads the .dockerignore of a source, which is untrusted: its size is limited, and a link must not leave
// the source.
import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { Failure } from '../../errors.ts'
import { size } from '../../quantities.ts'
import { type IgnoreRules, parseIgnore } from './ignore-rules.ts'

export interface IgnoreFile {
  text: string
  rules: IgnoreRules
}

export const maxIgnoreBytes = 256 * 1024

/** Null without such a file, or for a path out of `root`. Throws `build_failed` if it exceeds the limits. */
export async function readIgnoreFile(root: string, path: string): Promise<IgnoreFile | null> {
  const base = await realpath(root)
  const realPath = await realpath(join(base, path)).catch(() => null)
  if (realPath === null || !realPath.startsWith(base + sep)) return null
  const text = (await readBounded(realPath, { name: path, maxBytes: maxIgnoreBytes })).toString('utf8')
  return { text, rules: parseIgnore(text, path) }
}

/** Throws `build_failed` when it is not a file, or too large. */
export async function readBounded(
  realPath: string,
  { name, maxBytes }: { name: string; maxBytes: number },
): Promise<Buffer> {
  // Opening a pipe must not block. The checks use the open handle, because the path may point to another file
  // by the time it is opened.
  const handle = await open(realPath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    if (!(await handle.stat()).isFile()) throw new Failure('build_failed', `${name} is not a file`)
    const bytes = Buffer.alloc(maxBytes + 1)
    const { bytesRead } = await handle.read(bytes, 0, bytes.length)
    if (bytesRead <= maxBytes) return bytes.subarray(0, bytesRead)
    throw new Failure('build_failed', `${name} is larger than ${size(maxBytes)}`)
  } finally {
    await handle.close()
  }
}
