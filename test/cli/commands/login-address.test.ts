// `berth login` with an address without a scheme, or with the name of a known server.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runBerth } from '../../support/cli/berth.ts'
import { someInfo, startFakeServer } from '../../support/cli/fake-server.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

async function start(t: TestContext) {
  const server = await startFakeServer(t, () => ({ body: someInfo }))
  const XDG_CONFIG_HOME = temporaryDirectory(t)
  const env = { XDG_CONFIG_HOME, BERTH_TOKEN: 'bth_x' }
  return { server, env, host: new URL(server.url).host, folder: join(XDG_CONFIG_HOME, 'berth') }
}

test('host and port are enough to log in to this machine and to choose a server', async (t) => {
  const { server, env, host } = await start(t)

  const { code, stderr } = await runBerth(t, ['login', host], { env })
  const chosen = await runBerth(t, ['info', '--server', host], { env })

  assert.equal(code, 0, stderr)
  assert.match(stderr, new RegExp(`logged in to ${server.url}, saved as local`))
  assert.equal(chosen.code, 0, chosen.stderr)
})

test('a known name logs in to its address again', async (t) => {
  const { server, env, folder } = await start(t)
  mkdirSync(folder)
  const servers = { prod: { url: server.url, token: 'old' } }
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ servers }))

  const { code, stderr } = await runBerth(t, ['login', 'prod'], { env })

  assert.equal(code, 0, stderr)
  assert.match(stderr, new RegExp(`logged in to ${server.url}, saved as prod`))
})

test('a remote server without https gets a hint, and no request in clear text', async (t) => {
  const { server, env, host } = await start(t)
  const elsewhere = host.replace('127.0.0.1', '[::ffff:7f00:1]')

  const { code, stderr } = await runBerth(t, ['login', elsewhere], { env })

  assert.equal(code, 5)
  assert.ok(
    stderr.includes(`cannot reach the server at https://${elsewhere}: it does not speak https`),
    stderr,
  )
  assert.ok(stderr.endsWith(`in clear text: berth login http://${elsewhere}\n`), stderr)
  assert.deepEqual(server.requests, [])
})
