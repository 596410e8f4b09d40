// Reads the output of a tool as it arrives, no faster than the consumer accepts it. Only a bounded part is
// buffered, because the output can be larger than any memory.
import { createFrameSplitter, type OutputStream } from '../exec/frame-splitter.ts'

interface Output {
  /** The output that no stream consumed; at most 64 KiB. */
  stdout: string
  /** The last 8 KiB. */
  stderr: string
}

const maxOutputBytes = 64 * 1024
const maxErrorBytes = 8 * 1024

/** Reads to the end. `take` gets standard output, a piece at a time; without it the first of it is kept. */
export async function readOutput(
  stream: AsyncIterable<Uint8Array>,
  take?: (piece: Uint8Array) => Promise<void>,
): Promise<Output> {
  const pieces: [OutputStream, Buffer][] = []
  const split = createFrameSplitter((from, bytes) => void pieces.push([from, bytes]))
  let stdout = Buffer.alloc(0)
  let stderr = Buffer.alloc(0)
  for await (const chunk of stream) {
    split(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
    for (const [from, piece] of pieces.splice(0)) {
      if (from === 'stderr') stderr = Buffer.concat([stderr, piece]).subarray(-maxErrorBytes)
      else if (take) await take(piece)
      else stdout = Buffer.concat([stdout, piece.subarray(0, maxOutputBytes - stdout.length)])
    }
  }
  return { stdout: stdout.toString('utf8'), stderr: stderr.toString('utf8') }
}
