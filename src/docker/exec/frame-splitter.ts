// Splits the output of a command without a terminal into stdout and stderr as it arrives. A frame may span
// several chunks and is passed on in pieces: nothing waits for the end of a frame.

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
