// `berth watched`: whether a push that changes a path is deployed automatically.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runBerth } from '../../support/cli/berth.ts'
import { startApi, token } from '../../support/http/http-context.ts'

test('each path has its answer, and the pattern that decides', async (t) => {
  const api = await startApi(t)
  const watched = (...args: string[]) =>
    runBerth(t, ['watched', 'shop', ...args], { env: { BERTH_SERVER: api.url, BERTH_TOKEN: token } })
  const watch_paths = ['api/**', '!**/*.md']
  await api.call('POST', '/api/v1/services', { body: { name: 'shop', watch_paths } })
  const { stdout, code } = await watched('api/main.ts', 'api/docs/a.md', 'web/a.ts')
  assert.equal(code, 0)
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(/ {2,}/))
  assert.deepEqual(rows, [
    ['PATH', 'WATCHED', 'DECIDED BY'],
    ['api/main.ts', 'yes', 'api/**'],
    ['api/docs/a.md', 'no', '!**/*.md'],
    ['web/a.ts', 'no'],
  ])
  assert.match((await watched('web/a.ts', '--watch-path', 'web')).stdout, /web\/a.ts +yes +web\n/)
  const refused = await watched('web/a.ts', '--watch-path', './web')
  assert.notEqual(refused.code, 0)
  assert.match(refused.stderr, /must begin at the top of the repository/)
  assert.deepEqual(JSON.parse((await watched('web/a.ts', '--json')).stdout), [
    { path: 'web/a.ts', watched: false, pattern: null },
  ])
})
