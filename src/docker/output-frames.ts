// What a container without a terminal writes, as it comes: frames of 8 bytes of header (stream, size) and the
// bytes, which may be spread over several chunks.
// Mind: nothing is collected but the last words. Output can be larger than any memory.

interface Words {
  /** Of what nobody took. */
  stdout: string
  stderr: string
}

type Take = (piece: Uint8Array) => Promise<void>

const headerBytes = 8
const stderrFrame = 2
const keptOutputBytes = 64 * 1024
const keptWordsBytes = 8 * 1024

/** Reads to the end. `take` gets standard output, a piece at a time; without it the first of it is kept. */
export async function readOutput(stream: AsyncIterable<Uint8Array>, take?: Take): Promise<Words> {
  let stdout = Buffer.alloc(0)
  let stderr = Buffer.alloc(0)
  for await (const { isComplaint, piece } of pieces(stream)) {
    if (isComplaint) stderr = Buffer.concat([stderr, piece]).subarray(-keptWordsBytes)
    else if (take) await take(piece)
    else stdout = Buffer.concat([stdout, piece.subarray(0, keptOutputBytes - stdout.length)])
  }
  return { stdout: stdout.toString('utf8'), stderr: stderr.toString('utf8') }
}

async function* pieces(stream: AsyncIterable<Uint8Array>) {
  let header = Buffer.alloc(0)
  let restBytes = 0
  for await (let chunk of stream) {
    while (chunk.length > 0) {
      if (restBytes === 0) {
        const missing = headerBytes - header.length
        header = Buffer.concat([header, chunk.subarray(0, missing)])
        chunk = chunk.subarray(missing)
        if (header.length < headerBytes) break
        restBytes = header.readUInt32BE(4)
        if (restBytes === 0) header = Buffer.alloc(0)
        continue
      }
      const piece = chunk.subarray(0, restBytes)
      chunk = chunk.subarray(piece.length)
      restBytes -= piece.length
      yield { isComplaint: header[0] === stderrFrame, piece }
      if (restBytes === 0) header = Buffer.alloc(0)
    }
  }
}
