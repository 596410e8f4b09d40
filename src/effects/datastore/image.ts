// The image of a datastore: what is here is used as it is, so that a server never changes by itself.
import type { DatastoreKind } from '../../../machines/datastore/datastore-context.ts'
import { withTimeout } from '../../async/with-timeout.ts'
import { parseImageReference } from '../../docker/images/image-reference.ts'
import { inspectImage } from '../../docker/images/images.ts'
import { pullImage } from '../../docker/images/pull.ts'
import { codeOf, Failure } from '../../errors.ts'
import { checkFreeDisk, whileRoomInDocker } from '../disk/disk.ts'
import { type Host, isoNow } from '../host.ts'

const pullMs = 15 * 60_000
/** A person waits for the answer: an engine that is away is told, and tried again. */
const engineMs = 5_000

export function obtainImage(host: Host) {
  return async ({ kind, version }: { kind: DatastoreKind; version: string }, signal: AbortSignal) => {
    await engineWithin(host, signal)
    const { reference, host: registry } = parseImageReference(imageOf(host, kind, version))
    if (await inspectImage(host.engine, reference)) return { at: isoNow() }
    await checkFreeDisk(host.settings, 'a pull')
    const credentials = host.storage.registries.get(registry)
    const onLine = (line: string) => host.logger.debug({ image: reference, line }, 'pulling')
    host.logger.info({ image: reference }, 'pulling the image of a datastore')
    await withTimeout(pullMs, signal, (patient) =>
      whileRoomInDocker(host, 'a pull', patient, (bound) =>
        pullImage(host.engine, { reference, credentials, onLine, signal: bound }),
      ),
    )
    return { at: isoNow() }
  }
}

export function imageOf({ settings }: Host, kind: DatastoreKind, version: string): string {
  const template = kind === 'postgres' ? settings.postgresImage : settings.redisImage
  return template.replaceAll('{version}', version)
}

/** The network, when the engine answers soon. Throws `docker_unavailable`. */
export async function engineWithin(host: Host, signal: AbortSignal) {
  try {
    return await withTimeout(engineMs, signal, host.ready)
  } catch (error) {
    signal.throwIfAborted()
    if (codeOf(error) !== 'timeout') throw error
    throw new Failure('docker_unavailable', 'Docker does not answer')
  }
}
