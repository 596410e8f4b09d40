// Releases: a deploy runs with the settings frozen at its turn, regardless of later changes.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Release } from '../../storage/releases.ts'
import { serviceRow } from '../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

function releaseWith(value: string): Release {
  const { id, name, live_deploy_id, desired_deploy_id, degraded, deleting, ...rest } = serviceRow()
  const { created_at, updated_at, revision, ...settings } = rest
  return { settings, env: [{ key: 'A', value }], resolved: null }
}

test('a deploy that is retried freezes the settings saved at that time', async (t) => {
  const { releases } = await temporaryStorage(t)
  equal(releases.has('dep-1'), false)
  await releases.freeze('dep-1', () => releaseWith('first'))
  await releases.freeze('dep-1', () => releaseWith('second'))

  deepEqual([releases.get('dep-1'), releases.has('dep-1')], [releaseWith('second'), true])
})

test('the environment is resolved once, and never for a removed release', async (t) => {
  const { releases } = await temporaryStorage(t)
  const resolved = [{ key: 'A', value: 'resolved' }]
  await releases.freeze('dep-1', () => releaseWith('raw'))

  await releases.resolve('dep-1', resolved)
  await releases.resolve('dep-1', [])
  await releases.resolve('dep-2', resolved)

  deepEqual(releases.get('dep-1'), { ...releaseWith('raw'), resolved })
  equal(releases.get('dep-2'), null)
})

test('frozen settings survive a restart and are deleted with the release', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await temporaryStorage(t, directory)
  for (const id of ['dep-2', 'dep-1', 'dep-3']) await first.releases.freeze(id, () => releaseWith(id))
  await first.close()
  const { releases } = await temporaryStorage(t, directory)

  await releases.remove('dep-3')

  deepEqual(releases.ids(), ['dep-1', 'dep-2'])
  deepEqual([releases.get('dep-1'), releases.get('dep-3')], [releaseWith('dep-1'), null])
})

test('a release older than a setting reads it as off; later releases read the frozen value', async (t) => {
  const { releases } = await temporaryStorage(t)
  const { settings, ...rest } = releaseWith('old')
  const { spa_fallback, pre_deploy_command, build_env, hsts, ...known } = settings
  const { request_timeout_seconds, max_body_mb, ...old } = known
  const set = {
    spa_fallback: true,
    pre_deploy_command: 'npm run migrate',
    build_env: ['A'],
    hsts: true,
    request_timeout_seconds: 600,
    max_body_mb: 64,
  }
  await releases.freeze('dep-old', () => ({ ...rest, settings: old }) as Release)
  await releases.freeze('dep-new', () => ({ ...rest, settings: { ...old, ...set } }))

  const off = {
    spa_fallback: false,
    pre_deploy_command: null,
    build_env: [],
    hsts: false,
    request_timeout_seconds: 75,
    max_body_mb: 512,
  }
  deepEqual(releases.get('dep-old')?.settings, { ...old, ...off })
  deepEqual(releases.get('dep-new')?.settings, { ...old, ...set })
})
