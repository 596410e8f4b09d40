// A disk belongs to one version at a time, because two writers would corrupt its data. Listing its
// containers and creating one happen under the same lock, so no other deploy can interfere.
import { KeyedMutex } from '../../../async/keyed-mutex.ts'
import { sleep } from '../../../async/sleep.ts'
import { codeOf, Failure } from '../../../errors.ts'
import { removeVersion } from '../end/drain.ts'
import type { DeployPhase } from '../phase.ts'
import type { DeployPorts } from '../ports.ts'

const diskLocks = new KeyedMutex()
const pollIntervalMs = 250

/** Runs `work` while no other version holds the service's disk. Throws `disk_in_use` when one does. */
export function withDisk<T>(phase: DeployPhase, work: () => Promise<T>): Promise<T> {
  return withDiskLock(phase.serviceId, phase.signal, async () => {
    await requireFreeDisk(phase)
    return work()
  })
}

/** No instance on the disk of that service is created during the work. */
export function withDiskLock<T>(serviceId: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return diskLocks.run(serviceId, signal, work)
}

/** The version that the service wants gets the disk once no other version with a disk has an instance. */
async function requireFreeDisk(phase: DeployPhase): Promise<void> {
  const { ports, id, serviceId } = phase
  const claimantId = ports.storage.services.get(serviceId)?.desired_deploy_id ?? id
  if (claimantId !== id && usesDisk(ports, claimantId)) throw diskInUseFailure(claimantId)
  for (const holder of await findHolders(phase)) {
    if (!hasEnded(phase, holder)) throw diskInUseFailure(holder)
    // The holder was discarded, so nothing else stops its instances.
    ports.logger.info({ deploy: holder }, 'an ended deploy held the disk: its instances are removed')
    await removeVersion(ports, { id: holder, serviceId }, phase.signal)
  }
}

function diskInUseFailure(deployId: string): Failure {
  return new Failure('disk_in_use', `the disk is held by ${deployId}`)
}

async function findHolders({ ports, id: ownId, serviceId }: DeployPhase): Promise<Set<string>> {
  const instances = await ports.instances.list({ serviceId })
  const others = instances.map((instance) => instance.deployId).filter((id) => id !== ownId)
  return new Set(others.filter((id) => usesDisk(ports, id)))
}

/** A deploy whose row is damaged or missing counts as unfinished. */
function hasEnded({ ports, serviceId }: DeployPhase, deployId: string): boolean {
  const { actors } = ports.storage
  const unfinished = [...actors.active('deploy', serviceId), ...actors.parked('deploy', serviceId)]
  if (unfinished.some(({ id }) => id === deployId)) return false
  try {
    return actors.get(deployId)?.final ?? false
  } catch (error) {
    if (codeOf(error) !== 'row_damaged') throw error
    return false
  }
}

/** If the release is damaged, the deploy counts as a user of the disk, so no other deploy gets it. */
export function usesDisk(ports: Pick<DeployPorts, 'storage'>, deployId: string | null): boolean {
  try {
    const release = deployId ? ports.storage.releases.get(deployId) : null
    return release !== null && release.settings.disk_mount_path !== null
  } catch (error) {
    if (codeOf(error) !== 'row_damaged') throw error
    return true
  }
}

/** Waits for the previous version, which stops once it sees that the service wants this one. */
export async function retryWhileDiskInUse<T>(
  { log, signal }: DeployPhase,
  work: () => Promise<T>,
): Promise<T> {
  for (let isLogged = false; ; isLogged = true) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'disk_in_use') throw error
      if (!isLogged)
        log.info(`${error.message}, which stops first: the service is down until this deploy is live`)
      await sleep(pollIntervalMs, signal)
    }
  }
}
