// The runtime socket, as far as a real HAProxy cannot show it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openRuntime } from '../../src/edge/runtime.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

/** Says a line to each who comes, and then nothing more. */
async function listen(t: TestContext): Promise<string> {
  const path = join(temporaryDirectory(t), 'admin.sock')
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    t.after(() => socket.destroy())
    socket.write('first\n')
  })
  t.after(() => server.close())
  server.listen(path)
  await once(server, 'listening')
  return path
}

async function collect(path: string, signal: AbortSignal, onLine: () => void): Promise<string[]> {
  const lines: string[] = []
  for await (const found of openRuntime(path).lines('show events', signal)) {
    lines.push(...found)
    onLine()
  }
  return lines
}

test('lines are read until the signal aborts', async (t) => {
  const controller = new AbortController()
  const path = await listen(t)
  assert.deepEqual(await collect(path, controller.signal, () => controller.abort()), ['first'])
})

test('nothing is read if the signal is already aborted', async (t) => {
  const path = await listen(t)
  assert.deepEqual(await collect(path, AbortSignal.abort(), assert.fail), [])
})
