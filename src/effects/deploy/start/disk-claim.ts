// A disk belongs to one version at a time, because two writers would corrupt its data. Listing its
// containers and creating one happen under the same lock, so no other deploy can interfere.
import { KeyedMutex } from '../../../async/keyed-mutex.ts'
import { sleep } from '../../../async/sleep.ts'
import { codeOf, Failure } from '../../../errors.ts'
import { removeVersion } from '../end/drain.ts'
import type { DeployLog } from '../log.ts'
import type { DeployPorts } from '../ports.ts'

/** Locks by service. */
const diskLocks = new KeyedMutex()
const pollIntervalMs = 250

/** Runs `work` while no other version holds the service's disk. Throws `disk_in_use` when one does. */
export function withDisk<T>(
  ports: DeployPorts,
  serviceId: string,
  deployId: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  return diskLocks.run(serviceId, signal, async () => {
    await requireFreeDisk(ports, serviceId, deployId, signal)
    return work()
  })
}

/** The version that the service wants gets the disk once no other version with a disk has an instance. */
async function requireFreeDisk(
  ports: DeployPorts,
  serviceId: string,
  deployId: string,
  signal: AbortSignal,
): Promise<void> {
  const service = ports.storage.services.get(serviceId)
  const claimantId = service?.desired_deploy_id ?? deployId
  if (claimantId !== deployId && usesDisk(ports, claimantId)) throw diskInUseFailure(claimantId)
  for (const holder of await findHolders(ports, serviceId, deployId)) {
    if (!hasEnded(ports, serviceId, holder)) throw diskInUseFailure(holder)
    // The holder was discarded, so nothing else stops its instances.
    ports.logger.info({ deploy: holder }, 'an ended deploy held the disk: its instances are removed')
    await removeVersion(ports, { id: holder, serviceId }, signal)
  }
}

function diskInUseFailure(deployId: string): Failure {
  return new Failure('disk_in_use', `the disk is held by ${deployId}`)
}

async function findHolders(ports: DeployPorts, serviceId: string, deployId: string): Promise<Set<string>> {
  const instances = await ports.instances.list({ serviceId })
  const others = instances.map((instance) => instance.deployId).filter((id) => id !== deployId)
  return new Set(others.filter((id) => usesDisk(ports, id)))
}

/** A deploy whose row is damaged or missing counts as unfinished. */
function hasEnded({ storage: { actors } }: DeployPorts, serviceId: string, deployId: string): boolean {
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
  log: DeployLog,
  signal: AbortSignal,
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
