// Which paths a service watches, over HTTP, and what is said while a rollback pauses automatic deploys.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WatchedPath } from '../../../src/api/auto-deploys.ts'
import { startChecked } from '../../support/http/checked-api.ts'

const shop = { name: 'shop', repo_url: 'https://github.com/ada/shop', branch: 'main', deploy: false }
const path = '/services/shop/watch-paths/test'

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
