// `berth diff` against a real API: directions, signs, and the next step.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { runBerth } from '../../support/cli/berth.ts'
import { token } from '../../support/http/http-context.ts'
import { startVersions } from '../../support/http/versions-api.ts'

async function start(t: TestContext) {
  const api = await startVersions(t)
  const env = { BERTH_SERVER: api.url, BERTH_TOKEN: token }
  return { ...api, berth: (...args: string[]) => runBerth(t, args, { env }) }
}

test('what is saved but not live is shown as the next deploy would change it, without values', async (t) => {
  const { berth, call, deployed, setEnv } = await start(t)
  await setEnv({ OLD: 'canary-1', LEVEL: 'canary-2' })
  const live = await deployed()
  const before = await berth('diff', 'web')
  await setEnv({ NEW: 'canary-3', LEVEL: 'canary-4' }, ['OLD'])
  await call('PATCH', '/services/web', { port: 8080 })

  const { code, stdout, stderr } = await berth('diff', 'web')
  const json = JSON.parse((await berth('diff', 'web', '--json')).stdout)

  assert.equal(before.stderr, `nothing differs between ${live} and what is saved\n`)
  assert.equal(code, 0)
  assert.deepEqual(stdout.trimEnd().split('\n'), [
    '   WHAT   CHANGE',
    '~  port   unset → 8080',
    '+  NEW    new variable',
    '~  LEVEL  another value',
    '-  OLD    variable removed',
  ])
  assert.match(stderr, /next: berth deploy web\n$/)
  assert.deepEqual([json.from, json.to, json.env.added], [live, 'saved', ['NEW']])
  assert.doesNotMatch(stdout + stderr + JSON.stringify(json), /canary/)
})

test('a former deploy is compared with the live one, and leads to the rollback or to why not', async (t) => {
  const { berth, deployed, storage } = await start(t)
  const former = await deployed({ commit_sha: '1'.repeat(40) })
  const live = await deployed({ commit_sha: '2'.repeat(40) })

  const back = await berth('diff', 'web', former)
  const forth = await berth('diff', 'web', live, '--from', former)
  await storage.releases.remove(former)
  const gone = await berth('diff', 'web', former)

  assert.match(back.stdout, /^~ {2}commit {2}2222222 → 1111111$/m)
  assert.match(back.stderr, new RegExp(`next: berth rollback web ${former}\n$`))
  assert.match(forth.stdout, /^~ {2}commit {2}1111111 → 2222222$/m)
  assert.match(gone.stderr, /settings and variables are not compared/)
  assert.match(gone.stderr, /it cannot run again: its image was removed/)
})

test('a service that is not live has nothing to compare with', async (t) => {
  const { berth } = await start(t)

  const { code, stderr } = await berth('diff', 'web')

  assert.equal(code, 3)
  assert.match(stderr, /web is not live/)
})
