// The disk space of the files of a volume. The engine has no fast call for it, so the files are counted.
import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'

const blockBytes = 512

/**
 * null for a directory that cannot be read (an engine on another host, a daemon that is not root), and when
 * the signal comes first. Files that vanish while they are counted are left out.
 */
export async function volumeBytes(directory: string, signal: AbortSignal): Promise<number | null> {
  let bytes = 0
  const waiting = [directory]
  for (let current = waiting.pop(); current !== undefined; current = waiting.pop()) {
    const entries = await opendir(current).catch(() => null)
    if (entries === null && current === directory) return null
    for await (const entry of entries ?? []) {
      if (signal.aborted) return null
      const path = join(current, entry.name)
      bytes += ((await lstat(path).catch(() => null))?.blocks ?? 0) * blockBytes
      if (entry.isDirectory()) waiting.push(path)
    }
  }
  return bytes
}
