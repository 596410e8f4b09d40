// A deploy on the real engine in the form its effects use: frozen, with a network owned by the test.
import type { TestContext } from 'node:test'
import { ensureNetwork } from '../../../src/docker/network/networks.ts'
import type { DeployPorts } from '../../../src/effects/deploy/ports.ts'
import { DeployRun } from '../../../src/effects/deploy/run.ts'
import type { ServiceSettings } from '../../../storage/services.ts'
import { createIds } from '../../../storage/store/ids.ts'
import { openDockerSite, testSubnet } from '../docker/docker-site.ts'
import { serviceRow, transitionOf } from '../storage/store-fixtures.ts'
import { silentLogger, temporaryStorage } from '../supervisor/supervision.ts'
import { standIn } from './stand-in.ts'

const range = { first: '10.231.0.20', last: '10.231.0.30' }

/** `changes` are settings of its service; its image is busybox. */
export async function openDeploy(t: TestContext, changes: Partial<ServiceSettings>) {
  const { engine, owner, instances, images } = await openDockerSite(t)
  const storage = await temporaryStorage(t)
  const id = createIds().newId('dep')
  const service = serviceRow({ name: 'web', memory_limit_mb: 64, cpu_limit: 1, ...changes })
  await storage.services.create(service)
  await storage.actors.create(transitionOf({ id }))
  await storage.releases.freeze(id, () => ({ settings: service, env: [], resolved: null }))
  const { name, subnet } = await ensureNetwork(engine, owner, testSubnet)
  const ownRange = subnet === testSubnet ? range : rangeOf(subnet)
  const engineReady = async () => ({ name, range: ownRange })
  const parts = { storage, engine, owner, instances, engineReady, logger: silentLogger, startedAt: '' }
  const edge = { mode: 'off', httpPort: 80, httpsPort: 443, dashboardHost: null } as const
  const publication = { baseDomain: 'localhost', edge, hasCertificate: () => false }
  const logCollector = { drained: async () => undefined }
  const isolation = { apply: async () => undefined }
  const more = { publication, logCollector, isolation, settings: { pidsLimit: 64 } }
  const ports = standIn<DeployPorts>({ ...parts, ...more })
  const input = { image: images.busybox, commitSha: null }
  const runWith = (changed: Partial<DeployPorts>) =>
    new DeployRun({ ...ports, ...changed }, { id, serviceId: service.id }, t.signal)
  return { ports, id, storage, input, runWith }
}

/** Uses another subnet if the test network's default one is occupied. */
function rangeOf(subnet: string) {
  const start = subnet.split('.').slice(0, 3).join('.')
  const first = Number(subnet.split('.')[3]!.split('/')[0])
  return { first: `${start}.${first + 20}`, last: `${start}.${first + 30}` }
}
