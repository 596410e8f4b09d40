// Iterates over the entries of a tar archive, with their real names and sizes. tar-stream is no replacement:
// it accepts 11 of the broken archives that the tests refuse, and reads past the end of an archive. Its
// interface shows neither that end nor the bytes of an extended header, so a guard around it would have to
// walk all headers a second time. One extended header of 4 MiB, its limit, blocks the event loop for 2.5 s; a
// global one of that size does so again for each following extended header.
import type { ByteReader } from './byte-reader.ts'
import { quote } from './entry-path.ts'
import { type PaxFields, parsePax } from './pax.ts'
import { blockBytes, decodeText, invalid, isZeroBlock, parseHeader, type TarHeader } from './tar-header.ts'

export interface Entry {
  /** The type flag of tar: `0` a file, `5` a directory, … */
  type: string
  name: string
  linkName: string
  mode: number
  sizeBytes: number
  /** Must be read to its end before the next entry is requested. */
  content: AsyncIterable<Buffer>
}

const headerBlock = 'a header'
/**
 * An extended header is read as a whole: 512 KiB hold the event loop for 35 ms. The largest known has one
 * extended attribute of 64 KiB, the limit of Linux, in base64.
 */
export const extensionLimitBytes = 512 * 1024
const gnuName = 'L'
const gnuLinkName = 'K'
const paxOfNext = 'x'
const paxOfAll = 'g'

/**
 * Ends with the archive, but reads the rest of the stream, so that the gzip checksum is verified. Throws
 * `archive_invalid`, also if more than `metadataLimitBytes` precede an entry or follow the last one.
 */
export async function* readEntries(reader: ByteReader, metadataLimitBytes: number): AsyncGenerator<Entry> {
  for (;;) {
    const found = await nextHeader(reader, metadataLimitBytes)
    if (!found) break
    const { header, extension } = found
    const name = extension.name ?? decodeText(header.name)
    const linkName = extension.linkName ?? decodeText(header.linkName)
    const sizeBytes = extension.sizeBytes ?? header.sizeBytes
    const content = reader.pieces(sizeBytes, quote(name))
    yield { type: typeOf(header, name), name, linkName, mode: header.mode, sizeBytes, content }
    await reader.take(paddingOf(sizeBytes), quote(name))
  }
  if (!(await reader.drain(metadataLimitBytes))) throw invalid('continues after its end')
}

/** The next header, with its extended fields; null at the end of the archive. */
async function nextHeader(reader: ByteReader, limitBytes: number) {
  const extension: PaxFields = {}
  const endBytes = reader.takenBytes + limitBytes
  for (;;) {
    const block = await reader.take(blockBytes, headerBlock)
    if (isZeroBlock(block)) return null
    const header = parseHeader(block)
    if (!isExtension(header)) return { header, extension }
    if (header.sizeBytes > extensionLimitBytes || reader.takenBytes + header.sizeBytes > endBytes) {
      throw invalid('has too much metadata before an entry')
    }
    const data = await reader.take(header.sizeBytes, headerBlock)
    await reader.take(paddingOf(header.sizeBytes), headerBlock)
    extend(extension, header.type, data)
  }
}

function isExtension({ type }: TarHeader): boolean {
  return [gnuName, gnuLinkName, paxOfNext, paxOfAll].includes(type)
}

function extend(extension: PaxFields, type: string, data: Buffer): void {
  if (type === gnuName) extension.name ??= decodeText(untilNul(data))
  else if (type === gnuLinkName) extension.linkName ??= decodeText(untilNul(data))
  else if (type === paxOfNext) Object.assign(extension, parsePax(data))
  else if (Object.keys(parsePax(data)).length > 0) throw invalid('gives all entries one name or size')
}

function untilNul(data: Buffer): Buffer {
  const end = data.indexOf(0)
  return end === -1 ? data : data.subarray(0, end)
}

/** A file name with a final slash is a directory: tars without types wrote them so. */
function typeOf({ type }: TarHeader, name: string): string {
  return type === '0' && name.endsWith('/') ? '5' : type
}

/** Content is padded to whole blocks. */
function paddingOf(sizeBytes: number): number {
  return (blockBytes - (sizeBytes % blockBytes)) % blockBytes
}
