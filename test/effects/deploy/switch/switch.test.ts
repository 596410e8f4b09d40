// A switch that a crash interrupted: the states of the upstreams are committed, and the edge is behind.
import { deepEqual } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { drainInstances } from '../../../../src/effects/deploy/end/drain.ts'
import { DeployPhase } from '../../../../src/effects/deploy/phase.ts'
import type { DeployPorts } from '../../../../src/effects/deploy/ports.ts'
import { switchTraffic } from '../../../../src/effects/deploy/switch/switch.ts'
import { serviceRow } from '../../../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../../../support/supervisor/supervision.ts'

const startedAt = '2026-01-01T00:00:00.000Z'

/** The edge applies nothing until `release` is called. */
async function start(t: TestContext, formerDeployId: string | null) {
  const storage = await temporaryStorage(t)
  const { id: serviceId } = serviceRow()
  await storage.services.create(serviceRow())
  const row = { index: 0, address: '10.0.0.2', port: 80, protocol: 'http' as const, run: startedAt }
  await storage.upstreams.put(serviceId, { ...row, deploy_id: 'dep-2', state: 'ready' })
  if (formerDeployId)
    await storage.upstreams.put(serviceId, { ...row, deploy_id: formerDeployId, state: 'out' })
  const deeds: string[] = []
  let release = () => {}
  const isApplied = new Promise<void>((resolve) => {
    release = resolve
  })
  const apply = () => isApplied.then(() => void deeds.push('applied'))
  const instance = { name: 'i0', index: 0, state: 'running', restart: 'unless-stopped', startedAt }
  const ports = {
    storage,
    settings: { keepImages: 5 },
    owner: { prefix: 'berth' },
    downtimes: new Map(),
    publication: { baseDomain: 'localhost', edge: { httpPort: 80 }, hasCertificate: () => false },
    engineReady: async () => ({ gateway: '10.0.0.1' }),
    engine: { call: async () => [] },
    logCollector: { drained: async () => undefined },
    instances: {
      list: async ({ kind }: { kind?: string }) => (kind ? [] : [instance]),
      setRestart: async () => undefined,
      stop: async () => void deeds.push('stopped'),
      remove: async () => undefined,
    },
    edge: {
      isOff: false,
      apply,
      applyBestEffort: apply,
      findPortProblem: async () => null,
      openRequests: async () => 0,
    },
  } as unknown as DeployPorts
  const phaseOf = (id: string) => new DeployPhase(ports, { id, serviceId }, new AbortController().signal)
  return { deeds, release, phaseOf }
}

for (const formerDeployId of ['dep-1', null]) {
  const former = formerDeployId === null ? 'without a former deploy' : 'from a former deploy'
  test(`a repeated switch ${former} ends only when the edge has applied it`, async (t) => {
    const { deeds, release, phaseOf } = await start(t, formerDeployId)
    const switched = switchTraffic(phaseOf('dep-2'), { formerDeployId }).then(() => deeds.push('switched'))
    await sleep(100)
    deepEqual(deeds, [])
    release()
    await switched
    deepEqual(deeds, ['applied', 'switched'])
  })
}

test('a repeated drain stops no instance before the edge has applied it', async (t) => {
  const { deeds, release, phaseOf } = await start(t, 'dep-1')
  const drained = drainInstances(phaseOf('dep-1'), { port: 80, drainUntil: 0 })
  await sleep(100)
  deepEqual(deeds, [])
  release()
  await drained
  deepEqual(deeds.slice(0, 2), ['applied', 'stopped'])
})
