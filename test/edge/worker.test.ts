// The worker of an edge that root starts: it has given up its rights, and does all that it did with them.
import assert from 'node:assert/strict'
import { readFileSync, readlinkSync } from 'node:fs'
import { test } from 'node:test'
import { workerUser } from '../../src/edge/host-process.ts'
import { routesTo, upstream } from '../support/edge/edge-routes.ts'
import { serveUpstream, startEdge } from '../support/edge/running-edge.ts'

test('the worker runs as another user in an empty root, also after a reload', async (t) => {
  const user = workerUser()
  if (user === null) return t.skip('needs root')
  const edge = await startEdge(t)
  const port = await serveUpstream(t, (_, response) => response.end('served'))
  const hosts = (count: number) =>
    routesTo(Object.fromEntries(Array.from({ length: count }, (_, at) => [`h${at}.test`, [upstream(port)]])))

  for (const count of [1, 9]) {
    await edge.driver.apply(hosts(count))
    const pid = await edge.driver.identify()
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    assert.match(status, new RegExp(`^Uid:(\\s${user.uid}){4}$`, 'm'))
    assert.match(status, new RegExp(`^Gid:(\\s${user.gid}){4}$`, 'm'))
    assert.equal(readlinkSync(`/proc/${pid}/root`), edge.files.emptyDirectory)
    assert.equal((await edge.ask(`h${count - 1}.test`)).body, 'served')
  }
})

test('without a dedicated user the worker runs as nobody', () => {
  if (process.getuid?.() !== 0) return
  assert.deepEqual(workerUser('root:x:0:0::/:/bin/sh\n'), { uid: 65_534, gid: 65_534 })
})
