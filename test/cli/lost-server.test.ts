// The connection to the server is lost during a command: the error shows how to continue.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { writeTree } from '../support/archive/write-tree.ts'
import { runBerth } from '../support/cli/berth.ts'
import { type FakeResponse, type FakeServer, problem, startFakeServer } from '../support/cli/fake-server.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const deploy = { id: 'dep-1', service_id: 'svc-1', status: 'queued' }

/** Answers requests until one matches `dies`. */
async function dyingServer(t: TestContext, dies: RegExp, answered: FakeResponse) {
  const server: FakeServer = await startFakeServer(t, ({ method, path }) => {
    if (!dies.test(`${method} ${path}`)) return answered
    void server.stop()
    return { body: '' }
  })
  return { BERTH_SERVER: server.url, BERTH_TOKEN: 'bth_x' }
}

test('losing the server while following a deploy shows the command that resumes following', async (t) => {
  const env = await dyingServer(t, /^GET .*\/(logs|events|history)/, { body: deploy })

  const { code, stderr } = await runBerth(t, ['deploy', 'shop'], { env })

  assert.equal(code, 5)
  const way = ['follow it: berth logs --deploy dep-1 -f', 'its outcome: berth why dep-1']
  assert.match(stderr, /the deploy dep-1 continues/)
  assert.ok(stderr.endsWith(way.map((line) => `   ${line}\n`).join('')), stderr)
})

test('losing the server before the upload shows the command that continues', async (t) => {
  const cwd = temporaryDirectory(t)
  writeTree(cwd, { 'index.html': 'hello' })
  const env = await dyingServer(t, /^POST .*\/services$/, problem(404, 'not_found', 'no such service'))

  const { code, stderr } = await runBerth(t, ['up', 'shop', '.', '--yes'], { env, cwd })

  assert.equal(code, 5)
  assert.match(stderr, /\n {3}nothing was uploaded; to continue: berth up shop\n$/)
})
