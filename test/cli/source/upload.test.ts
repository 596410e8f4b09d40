// Sending what is larger than what the command line may hold.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '../../../src/cli/client/client.ts'

const mebibyte = 1024 * 1024
const sizeBytes = 256 * mebibyte

test("an upload is read at the server's pace and not buffered", async (t) => {
  let readBytes = 0
  let receivedBytes = 0
  let peakBytes = 0
  const server = createServer(async (request, response) => {
    for await (const bytes of request) {
      receivedBytes += bytes.length
      if (receivedBytes % (8 * mebibyte) < bytes.length) await delay(5)
      peakBytes = Math.max(peakBytes, readBytes - receivedBytes)
    }
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = createClient({ url, token: undefined, signal: new AbortController().signal })

  await client.open('POST', '/upload', {
    body: Readable.from(
      pieces((bytes) => (readBytes += bytes)),
      { objectMode: false },
    ),
    headers: { 'content-length': String(sizeBytes) },
  })

  assert.equal(receivedBytes, sizeBytes)
  assert.ok(peakBytes < sizeBytes / 2, `${Math.round(peakBytes / mebibyte)} MiB were read ahead`)
})

function* pieces(onRead: (bytes: number) => void): Generator<Buffer> {
  for (let sent = 0; sent < sizeBytes; sent += mebibyte) {
    onRead(mebibyte)
    yield Buffer.alloc(mebibyte)
  }
}
