// Which paths a service watches, over HTTP, and what is said while a rollback pauses automatic deploys.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WatchedPath } from '../../../src/api/auto-deploys.ts'
import { decideOnPaths } from '../../../src/domain/watched-paths.ts'
import type { Storage } from '../../../storage/index.ts'
import { startChecked } from '../../support/http/checked-api.ts'
import { instant } from '../../support/supervisor/supervision.ts'
import { cpuOf } from '../../support/system/cpu-time.ts'

const shop = { name: 'shop', repo_url: 'https://github.com/ada/shop', branch: 'main', deploy: false }
const path = '/services/shop/watch-paths/test'

async function addReader({ commit, ids, tokens }: Storage, token: string): Promise<void> {
  const dates = { created_at: instant, expires_at: null, last_used_at: null }
  const row = {
    id: ids.newId('tok'),
    name: token,
    hint: token,
    role: 'read',
    services: null,
    ...dates,
  } as const
  await commit((commit) => tokens.insert(commit, token, row))
}

test('a path is compared with the patterns of the service, or with others', async (t) => {
  const { create, call } = await startChecked(t)
  await create({ ...shop, watch_paths: ['api/**', '!**/*.md'] })
  const tested = async (paths: string[], patterns?: string[]) => {
    const { body } = await call('POST', path, { paths, ...(patterns && { watch_paths: patterns }) })
    return (body as unknown as WatchedPath[]).map((one) => [one.path, one.watched, one.pattern])
  }
  assert.deepEqual(await tested(['api/main.ts', './api/docs/a.md', '/web/a.ts']), [
    ['api/main.ts', true, 'api/**'],
    ['./api/docs/a.md', false, '!**/*.md'],
    ['/web/a.ts', false, null],
  ])
  assert.deepEqual(await tested(['web/a.ts'], ['web']), [['web/a.ts', true, 'web']])
  assert.deepEqual(await tested(['web/a.ts'], []), [['web/a.ts', true, null]])
  assert.deepEqual((await call('GET', '/services/shop')).body.watch_paths, ['api/**', '!**/*.md'])
})

test('paths and patterns have limits, and patterns the rules of the setting', async (t) => {
  const { create, refused } = await startChecked(t)
  await create(shop)
  const refusal = (body: object) => refused('POST', path, body)
  assert.deepEqual((await refusal({ paths: [] })).slice(0, 2), [400, 'invalid_request'])
  assert.deepEqual((await refusal({ paths: Array(101).fill('a') })).slice(0, 2), [400, 'invalid_request'])
  assert.deepEqual((await refusal({ paths: ['a'.repeat(1025)] })).slice(0, 2), [400, 'invalid_request'])
  for (const patterns of [['./api'], ['!a'], ['[a']])
    assert.deepEqual(await refusal({ paths: ['a'], watch_paths: patterns }), [
      400,
      'invalid_request',
      'watch_paths invalid',
    ])
  assert.deepEqual((await refused('POST', path.replace('shop', 'none'), { paths: ['a'] }))[0], 404)
})

test('parallel tests with the slowest patterns hold up others for less than one takes', async (t) => {
  const { create, call, storage } = await startChecked(t)
  await create(shop)
  const patterns = [`*[${'a-z'.repeat(168)}]z`, `*${'A'.repeat(509)}b`].flatMap((one) => Array(15).fill(one))
  const body = { paths: Array(3).fill('A'.repeat(1000)), watch_paths: patterns }
  const tokens = Array.from({ length: 10 }, (_, index) => `bth_reader-${index}`)
  for (const token of tokens) await addReader(storage, token)
  const testBy = (token: string) => call('POST', path, body, { token })
  await testBy(tokens[0]!)

  const { usedMs: aloneMs } = await cpuOf(async () => decideOnPaths({ patterns, paths: body.paths }))
  const together = await cpuOf(async () => {
    const answers = await Promise.all(tokens.map(testBy))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  })

  const { longestHoldMs } = together
  assert.ok(longestHoldMs < aloneMs, `others waited ${longestHoldMs} ms, one test takes ${aloneMs} ms`)
})

test('a service names the rollback that paused it', async (t) => {
  const { create, get, call, storage } = await startChecked(t)
  const { id } = await create(shop)
  const now = async () => {
    const { status, paused_by } = (await get('shop')).auto_deploys
    return [status, paused_by]
  }
  assert.deepEqual(await now(), ['watching', null])
  await storage.services.update(id, (row) => ({ ...row, auto_deploy_paused_by: 'dep-1' }))
  assert.deepEqual(await now(), ['paused', 'dep-1'])
  await call('POST', '/services/shop/suspend')
  assert.deepEqual(await now(), ['paused', null])
  await call('POST', '/services/shop/resume')
  await call('PATCH', '/services/shop', { auto_deploy: true })
  assert.deepEqual(await now(), ['watching', null])
})
