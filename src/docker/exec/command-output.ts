// Splits the output of a command without a terminal into stdout and stderr as it arrives, and keeps a part of
// it. A frame may span several chunks and is passed on in pieces: nothing waits for the end of a frame.
import { toBytes } from '../engine/stream-lines.ts'

export type OutputStream = 'stdout' | 'stderr'

const headerBytes = 8
const stderrFrame = 2

/** Returns what takes the chunks. Pieces are parts of the chunk they came in. */
export function createFrameSplitter(wrote: (stream: OutputStream, bytes: Buffer) => void) {
  let header = Buffer.alloc(0)
  let missingBytes = 0

  function takeHeader(chunk: Buffer): Buffer {
    const wanted = headerBytes - header.length
    header = Buffer.concat([header, chunk.subarray(0, wanted)])
    if (header.length === headerBytes) missingBytes = header.readUInt32BE(4)
    return chunk.subarray(wanted)
  }

  function takeBody(chunk: Buffer): Buffer {
    const piece = chunk.subarray(0, missingBytes)
    missingBytes -= piece.length
    wrote(header[0] === stderrFrame ? 'stderr' : 'stdout', piece)
    return chunk.subarray(piece.length)
  }

  return (chunk: Buffer): void => {
    for (let rest = chunk; rest.length > 0; ) {
      rest = missingBytes > 0 ? takeBody(rest) : takeHeader(rest)
      if (missingBytes === 0 && header.length === headerBytes) header = Buffer.alloc(0)
    }
  }
}

export interface CommandOutput {
  /** The first 64 KiB; empty if a consumer took it. */
  stdout: string
  /** The last 8 KiB. */
  stderr: string
}

const maxOutputBytes = 64 * 1024
const maxErrorBytes = 8 * 1024

/** Reads to the end. `take` gets standard output, a piece at a time; without it the first of it is kept. */
export async function readOutput(
  stream: AsyncIterable<unknown>,
  take?: (piece: Uint8Array) => Promise<void>,
): Promise<CommandOutput> {
  const pieces: [OutputStream, Buffer][] = []
  const split = createFrameSplitter((from, bytes) => void pieces.push([from, bytes]))
  let stdout = Buffer.alloc(0)
  let errors: Buffer[] = []
  let errorBytes = 0
  for await (const chunk of stream) {
    const { buffer, byteOffset, length } = toBytes(chunk)
    split(Buffer.from(buffer, byteOffset, length))
    for (const [from, piece] of pieces.splice(0)) {
      if (from === 'stderr') {
        errors.push(piece)
        errorBytes += piece.length
      } else if (take) await take(piece)
      else if (stdout.length < maxOutputBytes)
        stdout = Buffer.concat([stdout, piece.subarray(0, maxOutputBytes - stdout.length)])
    }
    // Rarely, because a program may write many short lines.
    if (errorBytes > 8 * maxErrorBytes) {
      errors = [Buffer.concat(errors).subarray(-maxErrorBytes)]
      errorBytes = maxErrorBytes
    }
  }
  const stderr = Buffer.concat(errors).subarray(-maxErrorBytes)
  return { stdout: stdout.toString('utf8'), stderr: stderr.toString('utf8') }
}
