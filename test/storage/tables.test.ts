// The names and keys of all tables: later versions rely on them to find the data.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { hashSecret } from '../../storage/access/hashed-tokens.ts'
import type { Storage } from '../../storage/index.ts'
import { rawTables, serviceRow, transitionOf } from '../support/storage/store-fixtures.ts'
import { instant, temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

test('stored tables keep their names and keys', async (t) => {
  const directory = temporaryDirectory(t)
  const storage = await temporaryStorage(t, directory)
  await fillServices(storage)
  await storage.commit(() => storage.datastores.insert('dst-1', 'shop-db', 'secret'))
  await storage.datastores.movePort('dst-1', [25_001])
  await fillGit(storage)
  await fillAccount(storage)
  await storage.close()

  const tables = Object.entries(await rawTables(directory))

  const keys = tables.map(([table, rows]) => [table, rows.map(([key]) => key)])
  deepEqual(Object.fromEntries(keys), expectedKeys)
})

const address = 10 * 2 ** 24 + 201 * 2 ** 16 + 2
const expectedKeys = {
  account: ['account', 'account_copy'],
  active: [['deploy', 'svc-1', 'dep-1']],
  actor_lists: [['deploy', 'svc-1', 'dep-1']],
  actors: ['dep-1'],
  addresses: [address],
  attempts: [['sign_in', 7, 'mark']],
  build_caches: ['svc-1'],
  credentials: ['svc-1'],
  datastore_passwords: ['dst-1'],
  datastore_ports: [25_001],
  datastores: ['dst-1'],
  deploy_addresses: [['dep-1', 0]],
  domains: ['shop.example.com'],
  env: ['svc-1'],
  events: ['key-1'],
  events_by_time: [[instant, 'key-1']],
  foreign_reads: ['dep-1'],
  git_applications: ['gitlab https://gitlab.com'],
  git_grants: ['git-1'],
  git_secrets: ['git-1'],
  git_states: [hashSecret('state')],
  history: [['dep-1', 1]],
  key_check: ['check', 'check_copy'],
  last_address: ['last'],
  meta: ['commit', 'schema', 'schema_copy'],
  names: ['shop', 'shop-db'],
  parked: [],
  pool_holders: [1],
  pools: ['svc-1'],
  records: ['dep-1'],
  registries: ['example.com'],
  releases: ['dep-1'],
  server: ['id', 'id_copy'],
  services: ['svc-1'],
  sessions: [hashSecret('bths_1')],
  sessions_by_id: ['ses-1'],
  tokens: [hashSecret('bth_1')],
  tokens_by_id: ['tok-1'],
  upstreams: [['svc-1', 1]],
}

async function fillGit({ gitAuthorizations, gitConnections, commit }: Storage): Promise<void> {
  const redirectUri = 'https://berth.example.com/git/callback'
  const grant = { code: 'code', installationId: null, redirectUri }
  const application = { clientId: 'a', clientSecret: 'b' }
  await commit(() => gitConnections.putApplicationWithin('gitlab', 'https://gitlab.com', application))
  await gitConnections.putSecrets('git-1', { kind: 'token', token: 'secret' })
  await gitAuthorizations.putGrant('git-1', { grant, application: null, sentAt: null, outcome: null })
  await gitAuthorizations.putState('state', { connectionId: 'git-1', redirectUri, expiresAt: instant })
}

async function fillServices(storage: Storage): Promise<void> {
  const { actors, addresses, credentials, env, registries, releases, services, upstreams } = storage
  const where = { address: '10.201.0.2', port: 3000 }
  const upstream = { deploy_id: 'dep-1', index: 0, ...where, state: 'ready' as const, run: instant }
  const ada = { username: 'ada', password: 'secret', origin: 'https://example.com' }
  const { id, name, ...settings } = serviceRow()
  await services.create(serviceRow({ custom_domains: ['shop.example.com'] }), {
    also: () => credentials.put('svc-1', ada),
  })
  await actors.create(transitionOf({ id: 'dep-1' }, { event: 'key-1' }))
  await upstreams.allocatePool('svc-1')
  await upstreams.put('svc-1', upstream)
  await addresses.allocate('dep-1', 0, { first: '10.201.0.2', last: '10.201.0.5' })
  await storage.buildCaches.renew('svc-1')
  await storage.foreignReads.begin('dep-1', 'buildImage')
  await env.change('svc-1', () => [{ key: 'A', value: '1' }])
  await registries.put('example.com', ada, instant)
  await releases.freeze('dep-1', () => ({ settings, env: [], resolved: null }))
}

async function fillAccount({ account, attempts, commit, sessions, tokens }: Storage): Promise<void> {
  const bearer = { created_at: instant, last_used_at: instant }
  await commit((commit) => {
    account.create(commit, {
      id: 'usr-1',
      email: 'ada@example.com',
      password_hash: 'hash',
      created_at: instant,
    })
    sessions.insert(commit, 'bths_1', { id: 'ses-1', user_agent: null, ...bearer })
    const rights = { role: 'admin', services: null } as const
    tokens.insert(commit, 'bth_1', {
      id: 'tok-1',
      name: 'ci',
      hint: 'th_1',
      expires_at: null,
      ...rights,
      ...bearer,
    })
  })
  await attempts.record({ guessed: 'sign_in', atMs: 7, mark: 'mark' }, () => false)
}
