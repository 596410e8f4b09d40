// Archives as people upload them, and as somebody would who means harm.
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'

/** A header as tar-stream takes it, which checks none of it, with the content. */
export type ArchiveEntry = Partial<Header> & { name: string; content?: string | Buffer }

/** A .tar.gz with these files. */
export function packArchive(files: Record<string, string>): Promise<Buffer> {
  return packEntries(Object.entries(files).map(([name, content]) => ({ name, content })))
}

/** A .tar.gz with these entries, in this order. */
export async function packEntries(entries: readonly ArchiveEntry[]): Promise<Buffer> {
  return gzipSync(await tarOf(entries), { level: 1 })
}

/** The same, before it is compressed. */
export async function tarOf(entries: readonly ArchiveEntry[]): Promise<Buffer> {
  const archive = pack()
  for (const { content = '', ...header } of entries) archive.entry(header, content)
  archive.finalize()
  return buffer(archive)
}

/** A header block byte by byte, for what tar-stream would not write; its checksum fits. */
export function tarHeader(fields: { name: string; type?: string; size?: string; magic?: string }): Buffer {
  const block = Buffer.alloc(512)
  block.write(fields.name, 0, 'latin1')
  block.write('0000644\0', 100)
  block.write(fields.size ?? '00000000000\0', 124, 'latin1')
  block.write(' '.repeat(8), 148)
  block.write(fields.type ?? '0', 156)
  block.write(fields.magic ?? 'ustar\x0000', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

/** What ends an archive. */
export const tarEnd: Buffer = Buffer.alloc(1024)
