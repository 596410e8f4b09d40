import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { streamLines } from '../../../src/docker/engine/stream-lines.ts'

test('lines are complete in whatever chunks they arrive, without empty ones in between', async () => {
  const bytes = Buffer.from('{"a":"grüße"}\r\n\n{"b":2}\n{"c":3}')

  for (let size = 1; size <= bytes.length; size++) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    )
    const lines: unknown[] = []
    for await (const line of streamLines(Readable.from(chunks))) lines.push(JSON.parse(line))
    assert.deepEqual(lines, [{ a: 'grüße' }, { b: 2 }, { c: 3 }], `chunks of ${size}`)
  }
})
