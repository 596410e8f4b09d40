// Pulls the image of a deploy. The tag is resolved each time, and the resolved image gets a name of Berth. If
// the registry does not respond, an image on the host is used; if it refuses, the deploy fails.
import type { DeploySource } from '../../../../machines/deploy/deploy-context.ts'
import { KeyedMutex } from '../../../async/keyed-mutex.ts'
import { imageName } from '../../../docker/engine/names.ts'
import {
  type ImageReference,
  parseImageReference,
  pinnedName,
  withDigest,
} from '../../../docker/images/image-reference.ts'
import { inspectImage, tagImage } from '../../../docker/images/images.ts'
import {
  pullImage as pullFromRegistry,
  removePulledName,
  resolveDigest,
} from '../../../docker/images/pull.ts'
import { codeOf, messageOf } from '../../../errors.ts'
import { guardDockerDisk } from '../../disk/disk.ts'
import type { DeployPhase } from '../phase.ts'

interface Pull {
  phase: DeployPhase
  requested: ImageReference
  image: string
  /** An earlier attempt may have left the name that a pull gives an image. */
  isRepeated: boolean
}

/** How many deploys are searched for an image from the same repository. */
const maxDeploysSearched = 500

export async function pullImage(phase: DeployPhase, { source }: { source: DeploySource }) {
  const { ports, id, log, signal } = phase
  if (phase.isRepeated) log.info('pulling starts again: the daemon was restarted')
  const image = imageName(ports.owner, phase.service.name, id)
  const requested = parseImageReference(source.image!)
  let { isRepeated } = phase
  const pull = () =>
    guardDockerDisk(ports, 'a pull', signal, (bound) =>
      pullOrReuse({ phase: phase.withSignal(bound), requested, image, isRepeated }),
    )
  const onUnavailable = () => {
    log.info('the Docker engine became unavailable: pulling again')
    isRepeated = true
  }
  const reference = await phase.withEngine(pull, onUnavailable)
  return { image, source: { ...source, image: reference } }
}

async function pullOrReuse(pull: Pull): Promise<string> {
  try {
    return await obtainFromRegistry(pull)
  } catch (error) {
    if (codeOf(error) !== 'registry_unreachable') throw error
    const reference = await findLocalCopy(pull, messageOf(error))
    if (reference === null) throw error
    return reference
  }
}

async function obtainFromRegistry(pull: Pull): Promise<string> {
  const { phase, requested } = pull
  const { ports, log, signal } = phase
  const credentials = ports.storage.registries.get(requested.host)
  const how = credentials ? ` with the credentials of ${requested.host}` : ''
  log.info(`pulling ${requested.reference}${how}`)
  const { reference } = requested
  const digest = requested.digest ?? (await resolveDigest(ports.engine, { reference, credentials, signal }))
  if (requested.digest === null) log.info(`${reference} is ${digest}`)
  const name = pinnedName(requested, digest)
  const earlier = await findEarlier(pull, (image) => image.digest === digest)
  if (earlier) {
    log.info('it is already present')
    await tagAsOurs(pull, earlier.image)
  } else await nameLocks.run(name, signal, () => pullByDigest(pull, name, credentials))
  return withDigest(requested, digest)
}

/** Without it, two deploys of one image would pull the name from under each other. */
const nameLocks = new KeyedMutex()

/**
 * The name that a pull gives an image is removed once the image has Berth's own. A name that existed before
 * belongs to another user of the engine, and stays, unless a pull is repeated after a restart of the daemon.
 */
async function pullByDigest(
  pull: Pull,
  name: string,
  credentials: { username: string; password: string } | null,
): Promise<void> {
  const { ports, log, signal } = pull.phase
  if (!pull.isRepeated && (await inspectImage(ports.engine, name))) {
    log.info('it is already present')
    return tagAsOurs(pull, name)
  }
  try {
    await pullFromRegistry(ports.engine, { reference: name, credentials, onLine: log.info, signal })
    await tagAsOurs(pull, name)
  } finally {
    await removePulledName(ports.engine, name)
  }
}

/** The image on this host, or null: exactly by digest, or the one that the tag meant at the last pull. */
async function findLocalCopy(pull: Pull, reason: string): Promise<string | null> {
  const { phase, requested } = pull
  const { ports, log } = phase
  const local = await inspectImage(ports.engine, requested.reference)
  const isEarlier = (image: ImageReference) => requested.digest === null && image.tag === requested.tag
  const earlier = local ? null : await findEarlier(pull, isEarlier)
  if (!local && !earlier) return null
  log.info(reason)
  log.info(`using the image on this host: ${local?.id ?? earlier?.reference}`)
  await tagAsOurs(pull, earlier?.image ?? requested.reference)
  return earlier?.reference ?? requested.reference
}

async function tagAsOurs({ phase: { ports }, image }: Pull, from: string): Promise<void> {
  await tagImage(ports.engine, ports.owner, from, image)
}

/** The newest existing image of the service's deploys that came from the same repository. */
async function findEarlier(
  { phase: { ports, serviceId }, requested }: Pull,
  fits: (image: ImageReference) => boolean,
): Promise<{ image: string; reference: string } | null> {
  for (const record of ports.storage.actors.list('deploy', serviceId, maxDeploysSearched)) {
    const image = record.image as string | null
    const reference = (record.source as DeploySource).image
    if (!image || !reference) continue
    const found = parseImageReference(reference)
    const isSame = found.host === requested.host && found.repository === requested.repository && fits(found)
    if (isSame && (await inspectImage(ports.engine, image))) return { image, reference }
  }
  return null
}
