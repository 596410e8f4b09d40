// Readers of a log that take nothing for a while, over real sockets: uWS itself would cut them after 10 s.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startApi, token } from '../../support/http/http-context.ts'

const endOfBody = '\r\n0\r\n\r\n'

/** Returns whether it got the whole log. */
async function readAfter(t: TestContext, url: string, pauseMs: number): Promise<boolean> {
  const { port, pathname } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1').pause()
  t.after(() => socket.destroy())
  const headers = ['Host: localhost', `Authorization: Bearer ${token}`, 'Accept: text/plain']
  socket.write([`GET ${pathname} HTTP/1.1`, ...headers, '', ''].join('\r\n'))
  await delay(pauseMs)
  let last = ''
  for await (const chunk of socket) {
    last = (last + chunk.toString('latin1')).slice(-endOfBody.length)
    if (last === endOfBody) return true
  }
  return false
}

test('a reader that pauses for 30 s gets the whole log, and one that pauses for 80 s is cut', async (t) => {
  const { call, storage, url } = await startApi(t)
  const body = { name: 'web', repo_url: 'https://git.test/a/b' }
  const created = await call('POST', '/api/v1/services', { body })
  const { id } = created.body.latest_deploy as { id: string }
  // More than the sockets hold.
  for (let number = 1; number <= 1600; number++) {
    storage.logs.append(id, 'stdout', 'x'.repeat(8000), '2026-01-01T00:00:00.000Z')
    if (number % 100 === 0) await storage.logs.flush()
  }
  await storage.logs.end(id)
  const path = `${url}/api/v1/deploys/${id}/logs`

  const isWhole = await Promise.all([readAfter(t, path, 30_000), readAfter(t, path, 80_000)])

  assert.deepEqual(isWhole, [true, false])
})
