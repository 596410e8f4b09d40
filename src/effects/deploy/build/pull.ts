// Pulls the image of a deploy. The tag is resolved each time, and the resolved image gets a name of Berth. If
// the registry does not respond, an image on the host is used; if it refuses, the deploy fails.

import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
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
import type { DeployPorts } from '../ports.ts'
import { workDirectory } from '../source/source.ts'

interface Pull {
  phase: DeployPhase
  requested: ImageReference
  image: string
}

/** How many deploys are searched for an image from the same repository. */
const maxDeploysSearched = 500

export async function pullImage(phase: DeployPhase, { source }: { source: DeploySource }) {
  const { ports, id, log, signal } = phase
  if (phase.isRepeated) log.info('pulling starts again: the daemon was restarted')
  const image = imageName(ports.owner, phase.service.name, id)
  const requested = parseImageReference(source.image!)
  const pull = () =>
    guardDockerDisk(ports, 'a pull', signal, (bound) =>
      ensureImage({ phase: phase.withSignal(bound), requested, image }),
    )
  const onUnavailable = () => log.info('the Docker engine became unavailable: pulling again')
  const reference = await phase.withEngine(pull, onUnavailable)
  return { image, source: { ...source, image: reference } }
}

/** Adopts an image that an earlier daemon tagged. A pull that it only started is undone and repeated. */
async function ensureImage(pull: Pull): Promise<string> {
  const { ports, id } = pull.phase
  const note = await readPullNote(ports, id)
  const isTagged = note !== null && (await inspectImage(ports.engine, pull.image)) !== null
  if (!isTagged) await dropPulledName(pull.phase)
  const reference = isTagged ? note.reference : await pullOrReuse(pull)
  await dropPulledName(pull.phase)
  return reference
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
  const earlier = await findEarlier(pull, (image) => image.digest === digest)
  const exact = withDigest(requested, digest)
  if (earlier) {
    log.info('it is already present')
    await tagAsOurs(pull, earlier.image, exact)
    return exact
  }
  const name = pinnedName(requested, digest)
  await nameLocks.run(name, signal, () => pullByDigest(pull, name, exact, credentials))
  return exact
}

async function pullByDigest(
  pull: Pull,
  name: string,
  exact: string,
  credentials: { username: string; password: string } | null,
): Promise<void> {
  const { ports, id, log, signal } = pull.phase
  if (await inspectImage(ports.engine, name)) {
    log.info('it is already present')
    return tagAsOurs(pull, name, exact)
  }
  await writePullNote(ports, id, { reference: exact, pulledName: name })
  await pullFromRegistry(ports.engine, { reference: name, credentials, onLine: log.info, signal })
  await tagImage(ports.engine, ports.owner, name, pull.image)
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
  const exact = earlier?.reference ?? requested.reference
  await tagAsOurs(pull, earlier?.image ?? requested.reference, exact)
  return exact
}

async function tagAsOurs({ phase, image }: Pull, from: string, reference: string): Promise<void> {
  const { ports, id } = phase
  await writePullNote(ports, id, { reference, pulledName: null })
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

/**
 * The second name that a pull gives an image is removed once the image has Berth's own name. A name that
 * existed before the pull belongs to another user of the engine and stays. The daemon may be killed between
 * the two steps, so a file records which it was.
 */
interface PullNote {
  /** The image that the deploy runs, with its digest if known. */
  reference: string
  /** The name to remove again; null if it existed before the pull. */
  pulledName: string | null
}

/** Without it, two deploys of one image would pull the name from under each other. */
const nameLocks = new KeyedMutex()

/** Null if there is no readable note: then all steps are repeated. */
export async function readPullNote(ports: DeployPorts, deployId: string): Promise<PullNote | null> {
  try {
    return JSON.parse(await readFile(noteFile(ports, deployId), 'utf8'))
  } catch {
    return null
  }
}

export async function writePullNote(ports: DeployPorts, deployId: string, note: PullNote): Promise<void> {
  const path = noteFile(ports, deployId)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(`${path}.new`, JSON.stringify(note))
  await rename(`${path}.new`, path)
}

/** Removes the name that this deploy's pull added, if any. Idempotent. */
export async function dropPulledName(phase: DeployPhase): Promise<void> {
  const note = await readPullNote(phase.ports, phase.id)
  if (!note?.pulledName) return
  await removePulledNameOnly(phase)
  await writePullNote(phase.ports, phase.id, { ...note, pulledName: null })
}

/** Like `dropPulledName`, but writes no note: the disk may be full. The note goes with the work directory. */
export async function removePulledNameOnly({ ports, id, signal }: DeployPhase): Promise<void> {
  const name = (await readPullNote(ports, id))?.pulledName
  if (name) await nameLocks.run(name, signal, () => removePulledName(ports.engine, name))
}

function noteFile(ports: DeployPorts, deployId: string): string {
  return join(workDirectory(ports, deployId), 'pull.json')
}
