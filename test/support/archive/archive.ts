// Archives as users upload them, and malicious ones.
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'

/** A header for tar-stream, which does not validate it, with the content. */
export type ArchiveEntry = Partial<Header> & { name: string; content?: string | Buffer }

/** A .tar.gz of these files. */
export function packArchive(files: Record<string, string>): Promise<Buffer> {
  return packEntries(Object.entries(files).map(([name, content]) => ({ name, content })))
}

/** A .tar.gz of these entries, in this order. */
export async function packEntries(entries: readonly ArchiveEntry[]): Promise<Buffer> {
  return gzipSync(await packTar(entries), { level: 1 })
}

/** The same, uncompressed. */
export async function packTar(entries: readonly ArchiveEntry[]): Promise<Buffer> {
  const archive = pack()
  for (const { content = '', ...header } of entries) archive.entry(header, content)
  archive.finalize()
  return buffer(archive)
}

/** A header block with a valid checksum, for values that tar-stream refuses to write. */
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

export const octal = (size: number) => `${size.toString(8).padStart(11, '0')}\0`

/** An extended header, of the type `x`, `g`, `L` or `K`. */
export function extended(type: string, data: string): Buffer {
  const bytes = Buffer.from(data)
  const padding = Buffer.alloc((512 - (bytes.length % 512)) % 512)
  return Buffer.concat([tarHeader({ name: 'x', type, size: octal(bytes.length) }), bytes, padding])
}

/** The end-of-archive marker. */
export const tarEnd: Buffer = Buffer.alloc(1024)
