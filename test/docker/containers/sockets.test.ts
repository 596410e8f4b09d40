// The ports on which a process listens, as the kernel reports them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { findListeners } from '../../../src/docker/containers/sockets.ts'

async function listen(t: TestContext, host: string, port = 0): Promise<number> {
  const server = createServer().listen(port, host)
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

async function isLoopback(port: number): Promise<boolean | undefined> {
  return (await findListeners(process.pid))?.find((listener) => listener.port === port)?.isLoopback
}

test('a port is loopback-only in every notation of a loopback address', async (t) => {
  for (const host of ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1']) {
    assert.equal(await isLoopback(await listen(t, host)), true, host)
  }
  for (const host of ['0.0.0.0', '::', '::ffff:0.0.0.0']) {
    assert.equal(await isLoopback(await listen(t, host)), false, host)
  }
})

test('a port that is open on several loopback addresses counts as loopback', async (t) => {
  const port = await listen(t, '127.0.0.1')
  await listen(t, '::1', port)
  assert.equal(await isLoopback(port), true)
  await listen(t, '127.0.0.2', port)
  assert.equal(await isLoopback(port), true)
})

test("Docker's resolver and open connections do not count as listeners", async (t) => {
  const port = await listen(t, '127.0.0.11')
  assert.equal(await isLoopback(port), undefined)
})
