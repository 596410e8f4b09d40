// Applies new limits to a datastore in place, without a restart. A datastore without a container gets them
// when its container is created, a stopped one at its next start.
import type { DatastoreLimits } from '../../../machines/datastore/datastore-context.ts'
import type { Limits } from '../../docker/containers/spec.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { isoNow } from '../iso-now.ts'
import { type Datastore, findCappedLimit, findDatastore, limitsOf, maskPassword } from './access.ts'
import { waitForEngineBriefly } from './image.ts'
import type { DatastorePorts } from './ports.ts'

export function applyLimits(ports: DatastorePorts) {
  return async ({ id }: { id: string } & DatastoreLimits, signal: AbortSignal) => {
    await waitForEngineBriefly(ports, signal)
    return { at: isoNow(), notice: await setContainerLimits(ports, id, signal) }
  }
}

/**
 * Applies the wanted limits to the container. If they change during the call, the last call applies the
 * newest ones. Resolves with what the host cannot grant. Throws `docker_error` with the reason of a refusal.
 */
export async function setContainerLimits(
  ports: DatastorePorts,
  id: string,
  signal: AbortSignal,
): Promise<string | null> {
  for (;;) {
    const datastore = findDatastore(ports, id)
    const limits = limitsOf(ports, datastore.record)
    await updateContainer(ports, datastore, limits, signal)
    const isNewest = findDatastore(ports, id).record.limits.revision === datastore.record.limits.revision
    if (isNewest) return findCappedLimit(limits, await ports.engine.info())
  }
}

/** A refusal was reported to the client that set the limits. */
export async function applyLimitsAgain(
  ports: DatastorePorts,
  { record: { id, name } }: Datastore,
  signal: AbortSignal,
): Promise<void> {
  try {
    await setContainerLimits(ports, id, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (codeOf(error) !== 'docker_error') throw error
    ports.logger.warn({ datastore: name, reason: messageOf(error) }, 'limits were rejected')
  }
}

async function updateContainer(
  ports: DatastorePorts,
  { name, kind, credentials }: Datastore,
  limits: Limits,
  signal: AbortSignal,
): Promise<void> {
  const isThere = await ports.datastores.limit(name, limits)
  const command = kind.limitCommand(credentials, limits.memoryLimitMb)
  if (!command || !isThere || (await ports.instances.inspect(name))?.state !== 'running') return
  const { exitCode, stdout, stderr } = await ports.datastores.run(name, command, { signal })
  const output = maskPassword(`${stdout}${stderr}`.trim(), credentials)
  // A server that is still starting either reads the new limit or gets it afterwards.
  const hasStarted = !/LOADING|Connection refused/i.test(output)
  if (!hasStarted || (exitCode === 0 && output === 'OK')) return
  throw new Failure('docker_error', output || 'it does not respond')
}
