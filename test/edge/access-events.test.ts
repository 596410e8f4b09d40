// Reading the ring of access lines from where one was: HAProxy hands out what is still in it in pieces.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readAccess } from '../../src/edge/access-events.ts'
import type { EdgeFiles } from '../../src/edge/files.ts'
import { openRuntime } from '../../src/edge/runtime.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const long = Date.parse('2020-01-01T00:00:00.000Z')
const line = (id: string, at = long) => `<0>${JSON.stringify({ id, at })}\n`

/** A ring that sends these pieces, so long apart, and then falls silent. */
async function serveRing(t: TestContext, pieces: string[], apartMs: number): Promise<EdgeFiles> {
  const adminSocket = join(temporaryDirectory(t), 'admin')
  const server = createServer(async (socket) => {
    t.after(() => socket.destroy())
    for (const piece of pieces) {
      socket.write(piece)
      await sleep(apartMs)
    }
  }).listen(adminSocket)
  t.after(() => server.close())
  await once(server, 'listening')
  return { adminSocket } as EdgeFiles
}

/** The ids of the first events. */
async function readFirst(t: TestContext, files: EdgeFiles, id: string | null, at = 0): Promise<string[]> {
  const reading = new AbortController()
  t.after(() => reading.abort())
  const after = id === null ? null : { id, at }
  for await (const events of readAccess(files, after, reading.signal)) return events.map(({ id }) => id)
  return []
}

test('old content that arrives in pieces with pauses is not reported again', async (t) => {
  const files = await serveRing(t, [line('a') + line('b'), line('c') + line('d')], 500)
  assert.deepEqual(await readFirst(t, files, 'c'), ['d'])
})

test('a ring that no longer has the last line is reported completely once it has arrived', async (t) => {
  const files = await serveRing(t, [line('a'), line('b')], 10)
  assert.deepEqual(await readFirst(t, files, 'gone'), ['a', 'b'])
})

test('in a ring that never had the last line, requests that ended earlier are not repeated', async (t) => {
  const files = await serveRing(t, [line('a', long) + line('b', long + 2)], 10)
  assert.deepEqual(await readFirst(t, files, 'of another ring', long + 1), ['b'])
})

test('a current line marks the end of the old content', async (t) => {
  const files = await serveRing(t, [line('a') + line('new', Date.now() + 60_000)], 10)
  assert.deepEqual(await readFirst(t, files, 'gone'), ['a', 'new'])
})

test('a truncated line is skipped', async (t) => {
  const files = await serveRing(t, [`<0>{"id":"cut","at\n${line('a')}`], 10)
  assert.deepEqual(await readFirst(t, files, null), ['a'])
})

test('lines are read until the signal aborts', async (t) => {
  const { adminSocket } = await serveRing(t, ['first\n'], 10)
  const controller = new AbortController()
  const found: string[] = []
  for await (const lines of openRuntime(adminSocket).lines('show events', controller.signal)) {
    found.push(...lines)
    controller.abort()
  }
  assert.deepEqual(found, ['first'])
})

test('nothing is read if the signal is already aborted', async (t) => {
  const { adminSocket } = await serveRing(t, ['first\n'], 10)
  const lines = openRuntime(adminSocket).lines('show events', AbortSignal.abort())
  for await (const found of lines) assert.fail(String(found))
})
