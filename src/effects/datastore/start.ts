// Starts a datastore: its volume, its address, its host port, and the container that uses them. A volume that
// already exists holds other data. It is never reused and never removed.
import type { DatastoreSlot } from '../../../machines/datastore/datastore-context.ts'
import { sleep } from '../../async/sleep.ts'
import type { DatastoreSpec } from '../../docker/containers/datastores.ts'
import { claimVolume, removeVolume } from '../../docker/containers/volumes.ts'
import { datastoreKind, datastoreName, labels } from '../../docker/engine/names.ts'
import { datastorePorts } from '../../domain/datastore-urls.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { checkFreeDisk } from '../disk/disk.ts'
import { allocateAddress } from '../isolation/isolation.ts'
import { type Datastore, findCappedLimit, findDatastore, limitsOf } from './access.ts'
import { type DatastorePorts, type DatastoreSettings, imageOf, waitForEngineBriefly } from './kind.ts'

type StartInput = DatastoreSlot & { isNew: boolean; isAfresh: boolean }

export const stopSeconds = 60
/** A killed engine's proxy may hold the port for a moment after the engine is back. */
const portReleaseTimeoutMs = 5_000
const pollIntervalMs = 250

export async function startDatastore(
  ports: DatastorePorts,
  { id, kind, version, isNew, isAfresh }: StartInput,
  signal: AbortSignal,
) {
  const network = await waitForEngineBriefly(ports, signal)
  const datastore = findDatastore(ports, id)
  // A datastore with existing data is started even if the disk is full.
  if (isNew) await checkFreeDisk(ports.settings, 'a datastore')
  if (isAfresh) await removeIncomplete(ports, datastore)
  const volume = volumeOf(ports, datastore)
  await claimVolume(ports.engine, ports.owner, volume, volumeLabels(datastore))
  const address = await allocateAddress(ports, id, 0, network)
  const limits = limitsOf(ports, datastore.record)
  const specOf = (port: number): DatastoreSpec => ({
    ...limits,
    id,
    name: datastore.record.name,
    volume,
    image: imageOf(ports, kind, version),
    network: network.name,
    address,
    env: datastore.kind.env(datastore.credentials),
    script: datastore.kind.script,
    mountPath: datastore.kind.mountPath(version),
    port: { inside: datastorePorts[kind], host: port, bind: ports.settings.datastoreBind },
    restart: 'no',
  })
  const hostPort = await startOnFreePort(ports, datastore, specOf, signal)
  // An existing container still has its former limits.
  await ports.datastores.limit(datastore.name, limits)
  return { hostPort, notice: findCappedLimit(limits, await ports.engine.info()) }
}

/** Uses the same port as before, or another one if that port stays in use. */
async function startOnFreePort(
  ports: DatastorePorts,
  { record: { id, name }, name: container }: Datastore,
  specOf: (port: number) => DatastoreSpec,
  signal: AbortSignal,
): Promise<number> {
  const { datastores } = ports.storage
  const refused = new Set<number>()
  const allocatedPort = datastores.port(id)
  let port = allocatedPort ?? (await choosePort(ports, id, refused))
  const startedAt = performance.now()
  for (;;) {
    signal.throwIfAborted()
    try {
      await ports.datastores.ensure(specOf(port), signal)
      return port
    } catch (error) {
      if (codeOf(error) !== 'docker_error' || !isPortInUse(messageOf(error))) throw error
      if (port === allocatedPort && performance.now() - startedAt < portReleaseTimeoutMs) {
        await sleep(pollIntervalMs, signal)
        continue
      }
      refused.add(port)
      if (refused.size >= maxPortAttempts) throw noPort(ports.settings)
      const next = await choosePort(ports, id, refused)
      ports.logger.warn({ datastore: name, container, port, next }, 'the port of a datastore is in use')
      port = next
    }
  }
}

function isPortInUse(reason: string): boolean {
  return /port is already allocated|address already in use/.test(reason)
}

/** A server that was killed during its initialization would treat incomplete files as complete. */
async function removeIncomplete(ports: DatastorePorts, datastore: Datastore): Promise<void> {
  await ports.instances.remove(datastore.name)
  await removeVolume(ports.engine, ports.owner, volumeOf(ports, datastore), datastore.record.id)
}

function volumeOf({ owner, storage }: DatastorePorts, { record: { id, name } }: Datastore): string {
  return datastoreName(owner, storage.datastores.volume(id) ?? name)
}

export function volumeLabels({ record: { id, name } }: Datastore): Record<string, string> {
  return { [labels.kind]: datastoreKind, [labels.id]: id, [labels.service]: name }
}

/** Stops the server cleanly, so that it needs no recovery. A missing or stopped container is fine. */
export async function stopDatastore(ports: DatastorePorts, { id }: { id: string }, signal: AbortSignal) {
  await waitForEngineBriefly(ports, signal)
  await ports.instances.stop(findDatastore(ports, id).name, stopSeconds)
}

type PortSettings = Pick<DatastoreSettings, 'datastoreBind' | 'datastorePorts'>

const maxPortAttempts = 8

/** Of no datastore, and not refused by Docker, from a random one on. Throws `port_taken` if none is left. */
export async function choosePort(
  { settings, storage: { datastores } }: Pick<DatastorePorts, 'storage'> & { settings: PortSettings },
  id: string,
  refused: ReadonlySet<number>,
): Promise<number> {
  const { first, last } = settings.datastorePorts
  const range = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  const candidates = range.filter((port) => !refused.has(port))
  const from = Math.floor(Math.random() * candidates.length)
  const port = await datastores.movePort(id, [...candidates.slice(from), ...candidates.slice(0, from)])
  if (port === null) throw noPort(settings)
  return port
}

function noPort({ datastoreBind, datastorePorts: { first, last } }: PortSettings): Failure {
  const range = first === last ? `port ${first}` : `every port from ${first} to ${last}`
  return new Failure('port_taken', `${range} of ${datastoreBind} is in use (--datastore-ports)`)
}
