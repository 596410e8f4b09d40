// The image of a datastore. An image on the host is used as it is, so a server is never
// upgraded unexpectedly.
import type { DatastoreKind } from '../../../machines/datastore/datastore-context.ts'
import { withTimeout } from '../../async/with-timeout.ts'
import { parseImageReference } from '../../docker/images/image-reference.ts'
import { inspectImage } from '../../docker/images/images.ts'
import { pullImage } from '../../docker/images/pull.ts'
import { codeOf, Failure } from '../../errors.ts'
import { checkFreeDisk, guardDockerDisk } from '../disk/disk.ts'
import { isoNow } from '../iso-now.ts'
import type { DatastoreImages, DatastorePorts } from './ports.ts'

const pullTimeoutMs = 15 * 60_000
/** A user waits for the response, so an unavailable engine is reported soon and retried. */
const engineTimeoutMs = 5_000

export function obtainImage(ports: DatastorePorts) {
  return async ({ kind, version }: { kind: DatastoreKind; version: string }, signal: AbortSignal) => {
    await waitForEngineBriefly(ports, signal)
    const { reference, host: registry } = parseImageReference(imageOf(ports, kind, version))
    if (await inspectImage(ports.engine, reference)) return { at: isoNow() }
    await checkFreeDisk(ports.settings, 'a pull')
    const credentials = ports.storage.registries.get(registry)
    const onLine = (line: string) => ports.logger.debug({ image: reference, line }, 'pulling')
    ports.logger.info({ image: reference }, 'pulling the image of a datastore')
    const { imageId } = await withTimeout(pullTimeoutMs, signal, (patient) =>
      guardDockerDisk(ports, 'a pull', patient, (bound) =>
        pullImage(ports.engine, { reference, credentials, onLine, signal: bound }),
      ),
    )
    ports.logger.info({ image: reference, imageId }, 'pulled the image of a datastore')
    return { at: isoNow() }
  }
}

export function imageOf(
  { settings }: { settings: DatastoreImages },
  kind: DatastoreKind,
  version: string,
): string {
  const template = kind === 'postgres' ? settings.postgresImage : settings.redisImage
  return template.replaceAll('{version}', version)
}

/** Returns the network if the engine responds soon. Throws `docker_unavailable`. */
export async function waitForEngineBriefly(ports: DatastorePorts, signal: AbortSignal) {
  try {
    return await withTimeout(engineTimeoutMs, signal, ports.engineReady)
  } catch (error) {
    signal.throwIfAborted()
    if (codeOf(error) !== 'timeout') throw error
    throw new Failure('docker_unavailable', 'Docker does not respond')
  }
}
