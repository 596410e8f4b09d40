// The names and keys of tables: later versions rely on them to find the data. Those that the view of
// version 0.1 shows are read by the test of older data.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { hashSecret } from '../../storage/access/hashed-tokens.ts'
import type { Storage } from '../../storage/index.ts'
import { rawTables, serviceRow, transitionOf } from '../support/storage/store-fixtures.ts'
import { instant, temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const expectedKeys = {
  attempts: [['current_password', 7, 'mark']],
  datastore_ports: [25_001],
  deploy_keys: ['svc-1'],
  foreign_reads: ['dep-1'],
  git_applications: ['gitlab https://gitlab.com'],
  git_grants: ['git-1'],
  git_secrets: ['git-1'],
  git_states: [hashSecret('state')],
  last_address: ['last'],
  pool_holders: [1],
}

test('tables that the view of version 0.1 does not show keep their names and keys', async (t) => {
  const directory = temporaryDirectory(t)
  const storage = await temporaryStorage(t, directory)
  await storage.actors.create(transitionOf({ id: 'dep-1' }))
  await storage.foreignReads.begin('dep-1', 'buildImage')
  await storage.addresses.allocate('dep-1', 0, { first: '10.201.0.2', last: '10.201.0.5' })
  await storage.attempts.record({ guessed: 'current_password', atMs: 7, mark: 'mark' }, () => false)
  await storage.commit(() => storage.datastores.insert('dst-1', 'shop-db', 'secret'))
  await storage.datastores.movePort('dst-1', [25_001])
  await storage.upstreams.allocatePool('svc-1')
  await storage.services.create(serviceRow())
  await storage.deployKeys.put(
    'svc-1',
    { publicKey: 'a', privateKey: 'b', createdAt: instant },
    { replaces: false },
  )
  await fillGit(storage)
  await storage.close()

  const tables = await rawTables(directory)

  const keys = Object.keys(expectedKeys).map((table) => [table, tables[table]?.map(([key]) => key)])
  deepEqual(Object.fromEntries(keys), expectedKeys)
})

async function fillGit({ gitAuthorizations, gitConnections, commit }: Storage): Promise<void> {
  const redirectUri = 'https://berth.example.com/git/callback'
  const grant = { code: 'code', installationId: null, redirectUri }
  const application = { clientId: 'a', clientSecret: 'b' }
  await commit(() => gitConnections.putApplicationWithin('gitlab', 'https://gitlab.com', application))
  await gitConnections.putSecrets('git-1', { kind: 'token', token: 'secret' })
  await gitAuthorizations.putGrant('git-1', { grant, application: null, sentAt: null, outcome: null })
  await gitAuthorizations.putState('state', { connectionId: 'git-1', redirectUri, expiresAt: instant })
}
