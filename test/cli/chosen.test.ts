// Which service is meant where none is named: that of the folder, for what only shows something.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { answeringServer, problem } from '../support/answering-server.ts'
import { runBerth } from '../support/berth.ts'
import { temporaryDirectory } from '../support/directory.ts'

const hint = "did you mean 'my-shop'?"

/** A server that has the service `my-shop`, and a folder of that name. */
async function start(t: TestContext) {
  const server = await answeringServer(t, ({ path }) => {
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
  const asked = () => server.asked.map(({ method, path }) => `${method} ${path.slice(7)}`)
  return { above, folder, berth, asked }
}

test('why, deploys and jobs find the service of a folder that is called like it, as up does', async (t) => {
  const { above, folder, berth, asked } = await start(t)

  const inside = await berth(folder, 'why')
  const outside = await berth(above, 'why', './My Shop')
  const list = await berth(folder, 'deploys')

  for (const { code, stderr } of [inside, outside]) {
    assert.deepEqual([code, stderr.split('\n')[0]], [3, ' ✘ my-shop was never deployed'])
  }
  assert.deepEqual([list.code, list.stderr], [0, 'my-shop was never deployed\n'])
  assert.ok(asked().includes('GET /services/my-shop/deploys?limit=1'))
})

test('berth.json goes before the name of the folder, and is asked for nothing else', async (t) => {
  const { folder, berth, asked } = await start(t)
  writeFileSync(join(folder, 'berth.json'), '{"service":"other"}')

  assert.equal((await berth(folder, 'why')).code, 3)

  assert.deepEqual(asked(), ['GET /services/other/deploys?limit=1'])
})

test('a folder that no service is called like asks which one, and names no other on its own', async (t) => {
  const { above, berth } = await start(t)
  const elsewhere = join(above, 'elsewhere')
  mkdirSync(elsewhere)

  const { code, stderr } = await berth(elsewhere, 'why')
  const none = await berth(above, 'why', './nowhere')

  assert.equal(code, 2)
  assert.match(
    stderr,
    /✘ which service\?\n {3}there is none called elsewhere, like this folder\n {3}name it, or/,
  )
  assert.deepEqual([none.code, /nowhere is not a folder/.test(none.stderr)], [2, true])
})

test('a service that is not there names the nearest', async (t) => {
  const { above, berth } = await start(t)
  const { code, stderr } = await berth(above, 'why', 'my-shpo')
  assert.deepEqual([code, stderr.includes(hint)], [3, true])
})

test('what changes a service does not go by the name of a folder', async (t) => {
  const { folder, berth, asked } = await start(t)
  for (const command of [['restart'], ['suspend'], ['deploy'], ['rollback'], ['update', '--port', '1']]) {
    const { code, stderr } = await berth(folder, ...command)
    assert.deepEqual([code, stderr.split('\n')[0]], [2, ' ✘ which service?'], command[0])
  }
  assert.deepEqual(asked(), [])
})
