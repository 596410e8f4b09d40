// Read-only commands without a service name use the service of the folder.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runBerth } from '../support/cli/berth.ts'
import { problem, startFakeServer } from '../support/cli/fake-server.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const hint = "did you mean 'my-shop'?"

/** A server that has the service `my-shop`, and a folder of that name. */
async function start(t: TestContext) {
  const server = await startFakeServer(t, ({ path }) => {
    if (!/^\/api\/v1\/services\/my-shop(\/|\?|$)/.test(path)) {
      return problem(404, 'not_found', 'there is no such service', { hint })
    }
    return { body: path.endsWith('/my-shop') ? { name: 'my-shop' } : [] }
  })
  const above = temporaryDirectory(t)
  const folder = join(above, 'My Shop')
  mkdirSync(folder)
  const env = { BERTH_SERVER: server.url, BERTH_TOKEN: 'bth_x' }
  const berth = (cwd: string, ...args: string[]) => runBerth(t, args, { env, cwd })
  const requests = () => server.requests.map(({ method, path }) => `${method} ${path.slice(7)}`)
  return { above, folder, berth, asked: requests }
}

test('why, deploys and jobs use the service with the name of the folder, as up does', async (t) => {
  const { above, folder, berth, asked: requests } = await start(t)

  const inside = await berth(folder, 'why')
  const outside = await berth(above, 'why', './My Shop')
  const list = await berth(folder, 'deploys')

  for (const { code, stderr } of [inside, outside]) {
    assert.deepEqual([code, stderr.split('\n')[0]], [3, ' ✘ my-shop was never deployed'])
  }
  assert.deepEqual([list.code, list.stderr], [0, 'my-shop was never deployed\n'])
  assert.ok(requests().includes('GET /services/my-shop/deploys?limit=1'))
})

test('berth.json takes precedence over the name of the folder', async (t) => {
  const { folder, berth, asked: requests } = await start(t)
  writeFileSync(join(folder, 'berth.json'), '{"service":"other"}')

  assert.equal((await berth(folder, 'why')).code, 3)

  assert.deepEqual(requests(), ['GET /services/other/deploys?limit=1'])
})

test('a folder without a matching service is a usage error, and no other service is chosen', async (t) => {
  const { above, berth } = await start(t)
  const elsewhere = join(above, 'elsewhere')
  mkdirSync(elsewhere)

  const { code, stderr } = await berth(elsewhere, 'why')
  const none = await berth(above, 'why', './nowhere')

  assert.equal(code, 2)
  assert.match(
    stderr,
    /✘ which service\?\n {3}no service is called elsewhere, like this folder\n {3}give its name, or/,
  )
  assert.deepEqual([none.code, /nowhere is not a folder/.test(none.stderr)], [2, true])
})

test('commands that change a service ignore the name of the folder', async (t) => {
  const { folder, berth, asked: requests } = await start(t)
  for (const command of [['restart'], ['suspend'], ['deploy'], ['rollback'], ['update', '--port', '1']]) {
    const { code, stderr } = await berth(folder, ...command)
    assert.deepEqual([code, stderr.split('\n')[0]], [2, ' ✘ which service?'], command[0])
  }
  assert.deepEqual(requests(), [])
})
