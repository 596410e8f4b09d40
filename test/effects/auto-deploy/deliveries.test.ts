// Deliveries are answered also when their head cannot be read: otherwise they would ask again at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { autoDeployEffects } from '../../../src/effects/auto-deploy/auto-deploy.ts'
import type { AutoDeployPorts } from '../../../src/effects/auto-deploy/ports.ts'
import { standIn } from '../../support/effects/stand-in.ts'
import { serviceRow } from '../../support/storage/store-fixtures.ts'
import { instant, silentLogger, temporaryStorage } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

test('a head that cannot be read answers the deliveries with the reason', async (t) => {
  const storage = await temporaryStorage(t)
  const dataDir = temporaryDirectory(t)
  await storage.services.create(serviceRow({ repo_url: `${dataDir}/missing`, image: null }))
  const id = storage.ids.newId('dlv')
  await storage.hookDeliveries.keep({
    id,
    provider: 'gitea',
    connection_id: 'git-1',
    delivery_id: 'd-1',
    event: 'push',
    repository: 'git.test/ada/shop',
    ref: 'refs/heads/main',
    before: null,
    after: null,
    received_at: instant,
    refusal: null,
    decisions: { 'svc-1': null },
  })
  assert.deepEqual(storage.hookDeliveries.openOf('svc-1'), [id])
  const settings = {
    dataDir,
    minFreeDiskMb: 0,
    localRepositories: [],
    gitHosts: { denyPrivateHosts: false, localHosts: [] },
    deployLimits: { fetchMs: 10_000, buildMs: 1, startMs: 1 },
  }
  const effects = autoDeployEffects(standIn<AutoDeployPorts>({ storage, logger: silentLogger, settings }))

  const deciding = { id: 'aut-1', serviceId: 'svc-1', head: '1'.repeat(40), isFirst: true }
  await assert.rejects(effects.decide(deciding, t.signal), { code: 'repository_private' })

  assert.deepEqual(storage.hookDeliveries.openOf('svc-1'), [])
  const [delivery] = storage.hookDeliveries.ofService('svc-1', 1)
  assert.match(delivery!.decisions['svc-1']!.reason, /missing/)
})
