// A service's queue of deploys, stored as rows that the test updates. The effect that awaits the
// turn is real.
import type { TestContext } from 'node:test'
import type { DeploySource } from '../../../machines/deploy/deploy-context.ts'
import { openEngine } from '../../../src/docker/engine/client.ts'
import type { DeployPorts } from '../../../src/effects/deploy/ports.ts'
import { awaitTurn } from '../../../src/effects/deploy/queue/turn.ts'
import { DeployRun } from '../../../src/effects/deploy/run.ts'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { until } from '../daemon/service.ts'
import { ensureEngine } from '../docker/engine.ts'
import { deployInput } from '../machines/deploy-chart.ts'
import { serviceRow, transitionOf } from '../storage/store-fixtures.ts'
import { temporaryStorage } from '../supervisor/supervision.ts'
import { standIn } from './stand-in.ts'

export const neverAborted = new AbortController().signal

/** Opens a store with one service whose deploys are rows. */
export async function openDeployQueue(
  t: TestContext,
  { service = {}, minFreeDiskMb = 0 }: QueueOptions = {},
) {
  const storage = await temporaryStorage(t)
  await storage.services.create(serviceRow(service))
  const engineReady = async () => ({ name: 'berth', range: { first: '10.201.0.2', last: '10.201.0.9' } })
  const settings = { dataDir: storage.directory, minFreeDiskMb, settleMs: 5000 }
  const engine = openEngine(await ensureEngine())
  t.after(() => engine.close())
  const ports = standIn<DeployPorts>({ storage, engineReady, settings, engine })
  const revisions = new Map<string, number>()
  return {
    storage,
    ask: (id: string, signal = neverAborted, source: DeploySource = deployInput().source) =>
      awaitTurn(new DeployRun(ports, { id, serviceId: 'svc-1' }, signal), { source }),
    /** Creates a deploy or updates it. */
    async is(id: string, status: string, { final = false, service_id = 'svc-1' } = {}) {
      const revision = (revisions.get(id) ?? 0) + 1
      revisions.set(id, revision)
      const transition = transitionOf({ id, revision, final, service_id }, { status })
      await (revision === 1 ? storage.actors.create(transition) : storage.actors.advance(transition))
    },
    saidBy: (id: string) => saidBy(storage, id),
    /** Resolves when its log has a line. */
    untilSaid: (id: string) => until(`a line of ${id}`, async () => (await saidBy(storage, id)).length > 0),
  }
}

async function saidBy(storage: Storage, id: string): Promise<string[]> {
  await storage.logs.flush()
  return (await storage.logs.tail(id, 10)).map(({ line }) => line)
}

interface QueueOptions {
  service?: Partial<ServiceRow>
  minFreeDiskMb?: number
}
