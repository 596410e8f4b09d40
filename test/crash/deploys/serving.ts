// Checks what is served: one live deploy per service, the wanted number of instances, and on each of them
// the right page.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Api } from '../../support/daemon/api.ts'
import { type DockerState, describeDocker, readDocker } from '../docker-state.ts'
import { collectEvidence, type Settled, type SettledService } from './settled.ts'
import type { Book } from './users.ts'

export const keepImages = 2

type Fault = [rule: string, text: string, deployId?: string | null]

const oneVersion = 'a service serves exactly one version'
const noOrphans = 'nothing in Docker is orphaned'
const settleMs = 45_000

/** Docker follows the records with a delay; what is wrong after a while is a violation. */
export async function checkServing(api: Api, { drill }: Book, settled: Settled): Promise<DockerState> {
  const { prefix } = drill.victim
  for (const deadline = Date.now() + settleMs; ; await sleep(500)) {
    const docker = await readDocker(prefix, drill.isForeign)
    const faults = [...dockerFaults(settled, docker, prefix)]
    for (const service of settled.services) faults.push(...(await pageFaults(service, docker, settled)))
    if (faults.length === 0) return docker
    if (Date.now() < deadline) continue
    for (const [rule, text, deployId] of faults) {
      const deploy = settled.deploys.find(({ entry }) => entry.id === deployId)
      const evidence = deploy ? await collectEvidence(api, deploy) : []
      drill.ledger.addViolation(rule, text, [...evidence, ...describeDocker(docker)])
    }
    return docker
  }
}

function* dockerFaults(settled: Settled, docker: DockerState, prefix: string): Generator<Fault> {
  const { services } = settled
  for (const service of services) {
    yield* liveFaults(service, settled)
    yield* instanceFaults(service, docker)
    yield* imageFaults(service, docker, settled)
  }
  const ids = services.map(({ entry }) => entry.id)
  const names = services.map(({ entry }) => entry.name)
  const volumes = ids.map((id) => `${prefix}-${id}`)
  const disks = services.filter(({ entry, record }) => entry.hasDisk && record.live_deploy_id)
  for (const { name, serviceId } of docker.containers)
    if (!ids.includes(serviceId)) yield [noOrphans, `container ${name} of no service`]
  for (const { name, service } of docker.images)
    if (!names.includes(service)) yield [noOrphans, `image ${name} of no service`]
  for (const name of docker.volumes)
    if (!volumes.includes(name)) yield [noOrphans, `volume ${name} of no service`]
  for (const name of disks.map(({ entry }) => `${prefix}-${entry.id}`))
    if (!docker.volumes.includes(name)) yield ['disks are retained', `the volume ${name} is gone`]
  for (const id of docker.dangling) yield [noOrphans, `image ${id} without a name`]
  if (docker.networks.join() !== prefix) yield [noOrphans, `networks ${docker.networks.join(', ')}`]
}

/** The newest deploy that ever went live must be the live one. */
function* liveFaults(
  { entry: { name }, record, entry }: SettledService,
  { deploys }: Settled,
): Generator<Fault> {
  const own = deploys.filter((deploy) => deploy.entry.service === entry && deploy.record)
  const live = own.filter((deploy) => deploy.record.status === 'live').map((deploy) => deploy.entry.id)
  const wentLive = own.filter(({ history }) => history.some(({ state }) => state === 'live'))
  const newest =
    wentLive
      .map((deploy) => deploy.entry.id)
      .sort()
      .at(-1) ?? null
  if (live.join() !== (newest ?? ''))
    yield [oneVersion, `${name}: live is ${live.join(', ') || 'none'}, expected ${newest ?? 'none'}`, newest]
  if (record.live_deploy_id !== newest)
    yield [oneVersion, `${name}: live_deploy_id is ${record.live_deploy_id}, not ${newest}`]
}

function* instanceFaults({ entry, record }: SettledService, docker: DockerState): Generator<Fault> {
  const live = record.live_deploy_id
  const own = docker.containers.filter(({ serviceId }) => serviceId === entry.id)
  const count = live && !entry.wanted.suspended ? entry.wanted.instances : 0
  const right = own.filter(
    ({ index, deployId, isRunning, restart }) =>
      index < count && deployId === live && isRunning && restart === 'unless-stopped',
  )
  if (own.length === count && new Set(right.map(({ index }) => index)).size === count) return
  yield [oneVersion, `${entry.name} should have ${count} instances of ${live}, not ${own.length}`, live]
}

function* imageFaults({ entry, record }: SettledService, docker: DockerState, { recordOf }: Settled) {
  const own = docker.images.filter(({ service }) => service === entry.name)
  if (own.length > keepImages + 1) {
    const text = `${entry.name} has ${own.length} images, the limit is ${keepImages} and the live one`
    yield ['old images are removed', text] satisfies Fault
  }
  for (const { name, deployId } of own) {
    const status = recordOf(deployId)?.status ?? 'unknown'
    if (status === 'live' || status === 'deactivated') continue
    yield [noOrphans, `image ${name} of a deploy that is ${status}`, deployId] satisfies Fault
  }
  const live = recordOf(record.live_deploy_id)
  if (live && !own.some(({ name }) => name === live.image))
    yield ['the live image is retained', `${live.image} is gone`, live.id] satisfies Fault
}

async function pageFaults({ entry, record }: SettledService, docker: DockerState, { recordOf }: Settled) {
  const live = recordOf(record.live_deploy_id)
  const wanted = live && entry.app.versionOf(live, recordOf)?.page
  const faults: Fault[] = []
  const running = docker.containers.filter(({ serviceId, isRunning }) => serviceId === entry.id && isRunning)
  for (const { name, address } of running) {
    const page = await fetch(`http://${address}:3000/`, { signal: AbortSignal.timeout(5000) })
      .then((response) => response.text())
      .catch((error: Error) => `no response: ${error.message}`)
    if (page !== wanted) faults.push([oneVersion, `${name} shows '${page}', expected '${wanted}'`, live?.id])
  }
  return faults
}
