// Reads a text up to a limit: a server may send gigabytes in few compressed bytes, a file may have no end.
import type { ReadableStream } from 'node:stream/web'
import { CliFailure } from './failure.ts'

const bytesPerMib = 1024 * 1024

/** Throws CliFailure above the limit, and the connection's errors. */
export async function readText(response: Response, limitMib: number): Promise<string> {
  const body = (response.body ?? []) as ReadableStream<Uint8Array>
  return (await readBytes(body, limitMib, 'the response of the server')).toString('utf8')
}

/** Throws CliFailure above the limit, and the errors of the source. `what` is read. */
export async function readBytes(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  limitMib: number,
  what: string,
): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let sizeBytes = 0
  for await (const part of source) {
    sizeBytes += part.length
    if (sizeBytes > limitMib * bytesPerMib) throw new CliFailure(`${what} is larger than ${limitMib} MiB`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}
