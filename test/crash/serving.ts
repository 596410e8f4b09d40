// Checks what is served: one live deploy per service, the wanted number of instances, and the right
// page on each.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Api, Body } from '../support/daemon/api.ts'
import { type DockerState, describeDocker, readDocker } from './docker-state.ts'
import type { Ledger, Violation } from './ledger.ts'
import { collectEvidence, type Settled, type SettledService } from './settled.ts'

type Fault = Pick<Violation, 'rule' | 'text'> & { deployId?: string }

const oneVersion = 'a service serves exactly one version'
const noOrphans = 'nothing in Docker is orphaned'
const settleMs = 45_000

/** Docker follows the records with a delay; what is wrong after a while is a violation. */
export async function checkServing(
  api: Api,
  ledger: Ledger,
  settled: Settled,
  { prefix, keepImages }: { prefix: string; keepImages: number },
): Promise<DockerState> {
  for (const deadline = Date.now() + settleMs; ; await sleep(500)) {
    const docker = await readDocker(prefix)
    const faults = [...dockerFaults(settled, docker, prefix, keepImages)]
    for (const service of settled.services) faults.push(...(await pageFaults(service, docker, settled)))
    if (faults.length === 0) return docker
    if (Date.now() < deadline) continue
    for (const { rule, text, deployId } of faults) {
      const deploy = settled.deploys.find(({ entry }) => entry.id === deployId)
      const evidence = deploy ? await collectEvidence(api, deploy) : []
      ledger.addViolation(rule, text, [...evidence, ...describeDocker(docker)])
    }
    return docker
  }
}

function* dockerFaults(
  settled: Settled,
  docker: DockerState,
  prefix: string,
  keepImages: number,
): Generator<Fault> {
  for (const service of settled.services) {
    yield* liveFaults(service, settled)
    yield* instanceFaults(service, docker)
    yield* imageFaults(service, docker, settled, keepImages)
  }
  const known = new Set(settled.services.map(({ entry }) => entry.id))
  const names = new Set(settled.services.map(({ entry }) => entry.name))
  for (const { name, serviceId } of docker.containers) {
    if (!known.has(serviceId)) yield { rule: noOrphans, text: `container ${name} of no service` }
  }
  for (const { name, service } of docker.images) {
    if (!names.has(service)) yield { rule: noOrphans, text: `image ${name} of no service` }
  }
  const disks = settled.services.filter(({ entry, record }) => entry.hasDisk && record.live_deploy_id)
  const volumes = new Set(settled.services.map(({ entry }) => `${prefix}-${entry.id}`))
  for (const name of docker.volumes) {
    if (!volumes.has(name)) yield { rule: noOrphans, text: `volume ${name} of no service` }
  }
  for (const { entry } of disks) {
    const name = `${prefix}-${entry.id}`
    if (!docker.volumes.includes(name))
      yield { rule: 'disks are retained', text: `the volume ${name} is gone` }
  }
  for (const id of docker.dangling) yield { rule: noOrphans, text: `image ${id} without a name` }
  if (docker.networks.join() !== prefix)
    yield { rule: noOrphans, text: `networks ${docker.networks.join(', ')}` }
}

/** The newest deploy that ever went live must be the live one. */
function* liveFaults({ entry, record }: SettledService, { deploys }: Settled): Generator<Fault> {
  const own = deploys.filter((deploy) => deploy.entry.service === entry && deploy.record)
  const live = own.filter((deploy) => deploy.record.status === 'live').map((deploy) => deploy.entry.id)
  const wentLive = own.filter(({ history }) => history.some(({ state }) => state === 'live'))
  const newest =
    wentLive
      .map((deploy) => deploy.entry.id)
      .sort()
      .at(-1) ?? null
  const wanted = newest === null ? '' : newest
  if (live.join() !== wanted) {
    const text = `${entry.name}: live is ${live.join(', ') || 'none'}, expected ${wanted || 'none'}`
    yield { rule: oneVersion, text, ...(newest ? { deployId: newest } : {}) }
  }
  if (record.live_deploy_id !== newest) {
    yield {
      rule: oneVersion,
      text: `${entry.name}: live_deploy_id is ${record.live_deploy_id}, not ${newest}`,
    }
  }
}

function* instanceFaults({ entry, record }: SettledService, docker: DockerState): Generator<Fault> {
  const own = docker.containers.filter(({ serviceId }) => serviceId === entry.id)
  const count = record.live_deploy_id && !entry.wanted.suspended ? entry.wanted.instances : 0
  const isRight = (index: number) => {
    const found = own.find(
      (container) => container.index === index && container.deployId === record.live_deploy_id,
    )
    return found?.isRunning && found.restart === 'unless-stopped'
  }
  const wrong = Array.from({ length: count }, (_, index) => index).filter((index) => !isRight(index))
  if (own.length === count && wrong.length === 0) return
  const text = `${entry.name} should have ${count} instances of ${record.live_deploy_id}, not ${own.length}`
  yield { rule: oneVersion, text, deployId: record.live_deploy_id }
}

function* imageFaults(
  { entry, record }: SettledService,
  docker: DockerState,
  { deploys }: Settled,
  keepImages: number,
): Generator<Fault> {
  const own = docker.images.filter(({ service }) => service === entry.name)
  if (own.length > keepImages + 1) {
    yield {
      rule: 'old images are removed',
      text: `${entry.name} has ${own.length} images, the limit is ${keepImages} and the live one`,
    }
  }
  for (const { name, deployId } of own) {
    const deploy = deploys.find((candidate) => candidate.entry.id === deployId)
    const status = deploy?.record?.status
    if (status === 'live' || status === 'deactivated') continue
    yield { rule: noOrphans, text: `image ${name} of a deploy that is ${status ?? 'unknown'}`, deployId }
  }
  const live = deploys.find((candidate) => candidate.entry.id === record.live_deploy_id)
  if (live && !own.some(({ name }) => name === live.record.image)) {
    yield {
      rule: 'the live image is retained',
      text: `${live.record.image} is gone`,
      deployId: live.entry.id,
    }
  }
}

async function pageFaults(
  { entry, record }: SettledService,
  docker: DockerState,
  { deploys }: Settled,
): Promise<Fault[]> {
  const recordOf = (id: string): Body =>
    deploys.find((candidate) => candidate.entry.id === id)?.record ?? null
  const live = recordOf(record.live_deploy_id)
  const wanted = live && entry.app.versionOf(live, recordOf)?.page
  const faults: Fault[] = []
  for (const { name, serviceId, address, isRunning } of docker.containers) {
    if (serviceId !== entry.id || !isRunning) continue
    const page = await fetch(`http://${address}:3000/`, { signal: AbortSignal.timeout(5000) })
      .then((response) => response.text())
      .catch((error: Error) => `no response: ${error.message}`)
    if (page === wanted) continue
    faults.push({
      rule: oneVersion,
      text: `${name} shows '${page}', expected '${wanted}'`,
      deployId: record.live_deploy_id,
    })
  }
  return faults
}
