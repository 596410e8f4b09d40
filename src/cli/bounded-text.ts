// Reads the text of a response up to a limit: a malicious server may send gigabytes in a few
// compressed bytes.
import type { ReadableStream } from 'node:stream/web'
import { CliFailure } from './failure.ts'

const bytesPerMib = 1024 * 1024

/** Throws CliFailure above the limit, and the connection's errors. */
export async function readText(response: Response, limitMib: number): Promise<string> {
  const parts: Uint8Array[] = []
  let sizeBytes = 0
  for await (const part of (response.body ?? []) as ReadableStream<Uint8Array>) {
    sizeBytes += part.length
    if (sizeBytes > limitMib * bytesPerMib) {
      throw new CliFailure(`the response of the server is larger than ${limitMib} MiB`)
    }
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}
