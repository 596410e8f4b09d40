// `berth audit` against the API on a real store.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runBerth } from '../../support/cli/berth.ts'
import { startApi, token } from '../../support/http/http-context.ts'
import { eventually } from '../../support/supervisor/supervision.ts'

test('audit lists what was done, the newest last, and all pages of it', async (t) => {
  const { call, storage, url } = await startApi(t)
  const berth = (...args: string[]) => runBerth(t, args, { env: { BERTH_SERVER: url, BERTH_TOKEN: token } })
  assert.equal((await berth('audit')).stderr, 'nothing happened yet\n')
  await call('POST', '/api/v1/services', { body: { name: 'shop' } })
  await call('PATCH', '/api/v1/services/shop', { body: { memory_limit_mb: 64 } })
  await call('DELETE', '/api/v1/services/none')
  await eventually('the outcomes', () => {
    const { records } = storage.audit.page({ limit: 3 })
    return records.length === 3 && records.every(({ finished_at }) => finished_at)
  })

  const { stdout } = await berth('audit', '--since', '2d', '--by', 'server')
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/).slice(1))
  assert.deepEqual(rows, [
    ['WHO', 'FROM', 'OUTCOME', 'ACTION', 'OF'],
    ['server token', '127.0.0.1', 'done', 'service.create', 'service shop: name'],
    ['server token', '127.0.0.1', 'done', 'service.change', 'service shop: memory_limit_mb'],
    ['server token', '127.0.0.1', 'not_found', 'service.delete', 'service none'],
  ])
  assert.equal((await berth('audit', 'blog')).stderr, 'nothing matches\n')
  const listed = JSON.parse((await berth('audit', 'shop', '--json')).stdout) as { action: string }[]
  assert.deepEqual(
    listed.map(({ action }) => action),
    ['service.change', 'service.create'],
  )
})
