// Lines of text from a stream of bytes. A line, and even a character, may be spread over several chunks.
import { Failure } from '../../errors.ts'

/** BuildKit's messages have at most 16 MiB, and come in base64. */
const maxLineMib = 32
const charsPerMib = 1024 * 1024

/** Throws `docker_error` for a line above the limit. */
export async function* streamLines(stream: AsyncIterable<unknown>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const text = decoder.decode(toBytes(chunk), { stream: true })
    rest += text
    if (rest.length > maxLineMib * charsPerMib)
      throw new Failure('docker_error', `a message of Docker is larger than ${maxLineMib} MiB`)
    // Without this, a line in many chunks would be searched again for each of them.
    if (!text.includes('\n')) continue
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') yield line
  }
  if (rest.trim() !== '') yield rest
}

/** A chunk of a stream without an encoding is already bytes, although its type does not show this. */
export function toBytes(chunk: unknown): Uint8Array {
  return chunk instanceof Uint8Array ? chunk : Buffer.from(String(chunk))
}
