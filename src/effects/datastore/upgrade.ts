// The effects of an upgrade of Postgres to another major version. The server serves until `copyData`, which
// restarts it without a network: no client can connect, while the copy shares its loopback.
import type { UpgradeSlot } from '../../../machines/datastore/datastore-context.ts'
import type { RecordOf } from '../../../storage/actors/actors.ts'
import { claimVolume, hasVolume, removeVolume } from '../../docker/containers/volumes.ts'
import { datastoreName } from '../../docker/engine/names.ts'
import { Failure } from '../../errors.ts'
import { size } from '../../quantities.ts'
import type { ToolPorts } from '../backup/ports.ts'
import { useTool } from '../backup/tool.ts'
import { byServer } from '../by.ts'
import { freeBytes, guardDockerDisk } from '../disk/disk.ts'
import { isoNow } from '../iso-now.ts'
import { retryUntilCleanedUp, waitForCommit } from '../waiting.ts'
import { type Datastore, findDatastore, runInDatastore } from './access.ts'
import { imageOf, obtainImage } from './image.ts'
import { postgresEnv } from './kind.ts'
import type { DatastorePorts } from './ports.ts'
import { awaitAnswer } from './probe.ts'
import { stopSeconds, volumeLabels } from './start.ts'
import { copyScript, inspectScript, listExtensionsScript, sizeQuery } from './upgrade-scripts.ts'

export type UpgradePorts = DatastorePorts & ToolPorts

/** The new data, and what the new server logs while it loads them. */
const copiesThatFit = 2

export function checkUpgrade(ports: UpgradePorts) {
  return async ({ id, kind, upgrade }: UpgradeSlot, signal: AbortSignal) => {
    const { version } = upgrade.to
    if (imageOf(ports, kind, version) === imageOf(ports, kind, upgrade.from.version))
      throw new Failure('upgrade_refused', '--postgres-image names one image for all versions')
    await obtainImage(ports)({ kind, version }, signal)
    const datastore = findDatastore(ports, id)
    const { obstacles, extensions } = await inspect(ports, datastore, signal)
    const [obstacle] = obstacles
    if (obstacle) throw new Failure('upgrade_refused', `${obstacle}, cannot be moved`)
    const listing = { version, script: listExtensionsScript }
    const available = await runNewVersion(ports, datastore, listing, signal)
    const missing = extensions.filter((name) => !available.split('\n').includes(name))
    if (missing.length > 0)
      throw new Failure('upgrade_refused', `Postgres ${version} here has no extension ${missing.join(', ')}`)
    await requireSpace(ports, datastore, signal)
    return { at: isoNow() }
  }
}

async function inspect(ports: UpgradePorts, datastore: Datastore, signal: AbortSignal) {
  const lines = (await runInServer(ports, datastore, ['sh', '-c', inspectScript], signal)).split('\n')
  const named = (word: string) =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1))
  return { obstacles: named('obstacle'), extensions: [...new Set(named('extension'))] }
}

async function requireSpace(ports: UpgradePorts, datastore: Datastore, signal: AbortSignal): Promise<void> {
  const { rootDir } = await ports.engine.info()
  if (rootDir === null) return
  const { minFreeDiskMb } = ports.settings
  const needed =
    copiesThatFit * (await measureDatabases(ports, datastore, signal)) + minFreeDiskMb * 1024 ** 2
  const free = await freeBytes(rootDir)
  if (free >= needed) return
  throw new Failure(
    'insufficient_storage',
    `${rootDir} has ${size(free)} free, the copy needs ${size(needed)}`,
  )
}

/** In bytes. */
export async function measureDatabases(
  ports: Pick<DatastorePorts, 'datastores'>,
  datastore: Datastore,
  signal?: AbortSignal,
): Promise<number> {
  const argv = ['psql', '-XAtqc', sizeQuery]
  return Number(await runInServer(ports, datastore, argv, signal))
}

/** Returns the output. Throws `upgrade_failed`. */
function runInServer(
  ports: Pick<DatastorePorts, 'datastores'>,
  datastore: Datastore,
  argv: string[],
  signal?: AbortSignal,
): Promise<string> {
  const command = { argv, env: postgresEnv(datastore.credentials, 'template1') }
  const options = { code: 'upgrade_failed', timeoutMs: 60_000, ...(signal && { signal }) }
  return runInDatastore(ports, datastore, command, options)
}

interface NewVersionRun {
  version: string
  script: string
  /** Missing for a server without the datastore's data. */
  volume?: string
}

/** Returns the output of a script in a container of the new version. Throws `upgrade_failed`. */
async function runNewVersion(
  ports: UpgradePorts,
  datastore: Datastore,
  { version, script, volume }: NewVersionRun,
  signal: AbortSignal,
): Promise<string> {
  const { kind, credentials, record } = datastore
  const command = { argv: ['sh', '-c', script], env: kind.env(credentials) }
  const mount = volume === undefined ? {} : { volume: { name: volume, mountPath: kind.mountPath(version) } }
  const run = { id: record.id, command, sharesNetwork: volume !== undefined, ...mount }
  const upgraded = { ...datastore, record: { ...record, version } }
  return (await useTool(ports, upgraded, run, 'upgrade_failed', signal)).stdout
}

/** An interrupted copy is not repeated: the datastore has been closed for an unknown time already. */
export function copyData(ports: UpgradePorts) {
  return async ({ id, upgrade }: UpgradeSlot, signal: AbortSignal) => {
    const volume = datastoreName(ports.owner, upgrade.to.volume)
    if (await hasVolume(ports.engine, volume))
      throw new Failure('upgrade_failed', 'berthd was stopped during the copy')
    const datastore = findDatastore(ports, id)
    await claimVolume(ports.engine, ports.owner, volume, volumeLabels(datastore))
    await ports.instances.stop(datastore.name, stopSeconds)
    await ports.datastores.disconnect(datastore.name)
    await ports.instances.start(datastore.name)
    await awaitAnswer(ports)({ id }, signal)
    await guardDockerDisk(ports, 'an upgrade', signal, (bound) =>
      runNewVersion(ports, datastore, { version: upgrade.to.version, script: copyScript, volume }, bound),
    )
    return { at: isoNow() }
  }
}

/** Leaves a server alone that is not closed yet. The next start creates a container with a network. */
export function undoUpgrade(ports: UpgradePorts) {
  return async ({ id, upgrade }: UpgradeSlot, signal: AbortSignal) => {
    await retryUntilCleanedUp(ports, id, signal, async () => {
      await ports.tools.remove(id)
      const volume = datastoreName(ports.owner, upgrade.to.volume)
      if (!(await hasVolume(ports.engine, volume))) return
      await removeServer(ports, id)
      await removeVolume(ports.engine, ports.owner, volume, id)
    })
    return { at: isoNow() }
  }
}

async function removeServer(ports: UpgradePorts, id: string): Promise<void> {
  const { name } = findDatastore(ports, id)
  await ports.instances.stop(name, stopSeconds)
  await ports.instances.remove(name)
}

export function switchVolume(ports: UpgradePorts) {
  return async ({ id, upgrade }: UpgradeSlot, signal: AbortSignal) => {
    const { from, to, removal, keptBy } = upgrade
    if (keptBy !== null) await keepVolume(ports, keptBy, signal)
    await retryUntilCleanedUp(ports, id, signal, () => removeServer(ports, id))
    await ports.storage.datastores.useVolume(id, to.volume)
    const input = {
      id: removal.id,
      disk: datastoreName(ports.owner, from.volume),
      serviceId: id,
      at: isoNow(),
      serviceName: findDatastore(ports, id).record.name,
      expiresAt: removal.expiresAt,
    }
    await ports.actors.spawn('disk-removal', removal.id, input, {
      by: byServer('the upgrade of a datastore'),
    })
    return { at: isoNow() }
  }
}

/** Takes the volume out of the trash. Throws `upgrade_refused` if that comes too late. */
async function keepVolume({ actors, storage }: UpgradePorts, id: string, signal: AbortSignal): Promise<void> {
  const find = (): RecordOf<'disk-removal'> | null => storage.actors.record<'disk-removal'>(id)
  await waitForCommit(storage.changes, find()?.service_id ?? id, signal, () =>
    find()?.status === 'measuring' ? null : true,
  )
  if (find()?.status === 'restored') return
  const { applied } = await actors.send(id, {
    type: 'restore',
    at: isoNow(),
    by: 'an upgrade that is undone',
  })
  if (!applied) throw new Failure('upgrade_refused', 'the data of the former version is deleted')
}
