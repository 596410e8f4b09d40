// Reads the files of a container from the archive that the engine makes of a path. A response that is not
// read to its end must be closed: the engine holds the container until then.
import { pipeline } from 'node:stream'
import type { Container } from 'dockerode'
import { extract, type Header } from 'tar-stream'
import type { Engine } from '../engine/client.ts'

export type ArchiveEntry = AsyncIterable<unknown> & { header: Header; resume(): void }
export type NextEntry = () => Promise<IteratorResult<ArchiveEntry>>

/** `read` may stop early. */
export function readArchive<T>(
  engine: Engine,
  { container, path }: { container: Container; path: string },
  read: (next: NextEntry) => Promise<T>,
  options: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<T> {
  const work = async (abortSignal: AbortSignal) => {
    const archive = await container.getArchive({ path, abortSignal })
    const entries = extract()
    // Without a listener from the start, the first entry would be lost.
    const { next } = entries[Symbol.asyncIterator]()
    // A cut archive ends the entries with an error, which their reader gets. Their end closes the archive.
    pipeline(archive, entries, () => undefined)
    try {
      return await read(next)
    } finally {
      entries.destroy()
    }
  }
  return engine.call(`read ${path} of a container`, work, options)
}
