// What a container writes, taken out of its frames: whatever the pieces it comes in.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readOutput } from '../../../src/docker/exec/command-output.ts'

const stdout = 1
const stderr = 2

function frame(stream: number, content: Uint8Array | string): Buffer {
  const header = Buffer.alloc(8)
  header[0] = stream
  header.writeUInt32BE(Buffer.byteLength(content), 4)
  return Buffer.concat([header, Buffer.from(content)])
}

async function* chunksOf(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

async function taken(chunks: AsyncIterable<Uint8Array>) {
  const pieces: Buffer[] = []
  const words = await readOutput(chunks, async (piece) => void pieces.push(Buffer.from(piece)))
  return { ...words, output: Buffer.concat(pieces).toString() }
}

const all = Buffer.concat([
  frame(stdout, 'one '),
  frame(stderr, 'what '),
  frame(stdout, ''),
  frame(stderr, ''),
  frame(stdout, 'two '),
  frame(stderr, 'is wrong'),
  frame(stdout, 'three'),
])
const expected = { stdout: '', stderr: 'what is wrong', output: 'one two three' }

test('both streams are whole, wherever the first chunk ends', async () => {
  for (let at = 0; at <= all.length; at++) {
    assert.deepEqual(await taken(chunksOf(all.subarray(0, at), all.subarray(at))), expected, `split at ${at}`)
  }
})

test('both streams are whole, byte by byte and with empty chunks in between', async () => {
  const bytes = [...all].flatMap((byte) => [Buffer.of(byte), Buffer.alloc(0)])
  assert.deepEqual(await taken(chunksOf(...bytes)), expected)
})

test('a large frame is passed on as it arrives, not when it is complete', async () => {
  const seen: string[] = []
  async function* told() {
    const large = frame(stdout, 'x'.repeat(100))
    for (const [from, to] of [
      [0, 8],
      [8, 50],
      [50, 108],
    ]) {
      yield large.subarray(from, to)
      seen.push('asked for more')
    }
  }

  await readOutput(told(), async (piece) => void seen.push(`took ${piece.length}`))

  const more = 'asked for more'
  assert.deepEqual(seen, [more, 'took 42', more, 'took 58', more])
})

test('the next piece is not read before the previous one was accepted', async () => {
  let open = 0
  let most = 0
  const frames = Array.from({ length: 20 }, (_, at) => frame(stdout, `${at}`))

  await readOutput(chunksOf(Buffer.concat(frames)), async () => {
    most = Math.max(most, ++open)
    await new Promise((resolve) => setImmediate(resolve))
    open--
  })

  assert.deepEqual([most, open], [1, 0])
})

test('the first 64 KiB of unread output are retained, and the last 8 of standard error', async () => {
  const many = Array.from({ length: 10_000 }, (_, at) => `${String(at).padStart(15, '0')}\n`)
  const chunks = many.flatMap((line) => [frame(stdout, line), frame(stderr, line)])

  const words = await readOutput(chunksOf(...chunks))

  assert.deepEqual(words, { stdout: many.slice(0, 4096).join(''), stderr: many.slice(-512).join('') })
})

test('a stream that ends within a frame yields its bytes so far', async () => {
  assert.deepEqual(await taken(chunksOf(frame(stdout, 'whole'), frame(stdout, 'half').subarray(0, 10))), {
    stdout: '',
    stderr: '',
    output: 'wholeha',
  })
  assert.deepEqual(await taken(chunksOf()), { stdout: '', stderr: '', output: '' })
})
