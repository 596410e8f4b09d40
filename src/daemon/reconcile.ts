// Removes orphaned objects. Normally there are none: every actor cleans up after itself. Only objects with
// both owner labels, or with one of Berth's image names, are removed; volumes never are.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { removeTree } from '../archive/removal.ts'
import type { Instances, ListFilter } from '../docker/containers/instances.ts'
import { listFormerContainers, listFormerImages } from '../docker/engine/former-names.ts'
import { jobKind, preDeployKind, toolKind } from '../docker/engine/names.ts'
import { listImages, removeImage, removeNamelessImages } from '../docker/images/images.ts'
import { imagesInUse, ownerState } from '../effects/engine/images-in-use.ts'
import type { EnginePorts } from '../effects/engine/ports.ts'
import { keysFolder } from '../effects/git-connection/deploy-keys.ts'
import type { SharedPorts } from '../effects/ports.ts'
import { codeOf, messageOf } from '../errors.ts'
import { removeFormerArchives } from '../sources/archive.ts'

interface Parts extends Pick<EnginePorts, 'engine' | 'owner'>, Pick<SharedPorts, 'storage' | 'logger'> {
  instances: Instances
  settings: { dataDir: string }
}

export async function reconcile(ports: Parts): Promise<void> {
  const { actors } = ports.storage
  // The objects of a parked actor are kept for inspection.
  const isCaredFor = (actorId: string) => ownerState(actors, actorId) !== 'finished'
  const isKnown = (deployId: string) => actors.record(deployId) !== null
  await replaceFormerNames(ports, isKnown)
  await removeInstances(ports, isCaredFor)
  const images = await removeImages(ports)
  await removeWorkDirectories(ports, isCaredFor)
  await removeOrLog(ports, 'archives', () => removeFormerArchives(ports))
  await removeRows(ports, isCaredFor, isKnown, images)
}

/** A Docker that was killed while it removed an image may have removed only the name. */
export async function removeNameless(ports: Parts): Promise<void> {
  const { engine, owner } = ports
  await removeOrLog(ports, 'images without a name', () => removeNamelessImages(engine, owner))
}

/** An object that keeps its former name is tried again at the next start. */
async function replaceFormerNames(ports: Parts, isKnown: (id: string) => boolean): Promise<void> {
  const { engine, owner, storage, logger } = ports
  if (!storage.formerNames.areExpected()) return
  const containers = await listFormerContainers(engine, owner)
  const images = await listFormerImages(engine, owner, isKnown)
  const replaced = []
  for (const { name, replace } of [...containers, ...images])
    replaced.push(await tryOrLog(ports, name, 'an object keeps its former name', replace))
  if (replaced.every(Boolean)) await storage.formerNames.settle()
  const counts = { containers: containers.length, images: images.length }
  logger.info(counts, 'containers and images of the former version have new names')
}

async function removeInstances(ports: Parts, isCaredFor: (id: string) => boolean): Promise<void> {
  const kinds: ListFilter[] = [{}, { kind: preDeployKind }, { kind: toolKind }, { kind: jobKind }]
  const all = (await Promise.all(kinds.map((kind) => ports.instances.list(kind)))).flat()
  for (const { name, deployId } of all) {
    if (isCaredFor(deployId)) continue
    ports.logger.warn({ container: name, deploy: deployId }, 'removing an orphaned instance')
    await removeOrLog(ports, name, () => ports.instances.remove(name))
  }
}

/** Returns the names of all images that it found. */
async function removeImages(ports: Parts): Promise<Set<unknown>> {
  const images = await listImages(ports.engine, ports.owner)
  const present = new Set(images.map(({ name }) => name))
  const needOf = imagesInUse(ports)
  for (const image of images) {
    const isNeeded = needOf(image, present) !== null
    if (!isNeeded)
      await removeOrLog(ports, image.name, () => removeImage(ports.engine, ports.owner, image.name))
  }
  return present
}

async function removeWorkDirectories(ports: Parts, isCaredFor: (id: string) => boolean): Promise<void> {
  const parent = join(ports.settings.dataDir, 'work')
  for (const deployId of await readdir(parent).catch(() => [])) {
    const path = join(parent, deployId)
    if (deployId === keysFolder || isCaredFor(deployId)) continue
    await removeOrLog(ports, path, () => removeTree(path))
  }
}

async function removeRows(
  { storage }: Parts,
  isCaredFor: (id: string) => boolean,
  isKnown: (id: string) => boolean,
  images: Set<unknown>,
): Promise<void> {
  for (const deployId of storage.addresses.deployIds()) {
    if (!isCaredFor(deployId)) await storage.addresses.release(deployId)
  }
  for (const deployId of storage.releases.ids()) {
    // A release can be run again as long as its image is there.
    const canRun = isCaredFor(deployId) || images.has(storage.actors.record(deployId)?.image)
    if (!canRun) await storage.releases.remove(deployId)
  }
  for (const id of await storage.logs.ids()) {
    if (!isKnown(id)) await storage.logs.remove(id)
  }
}

async function removeOrLog(ports: Parts, what: string, remove: () => Promise<void>): Promise<void> {
  await tryOrLog(ports, what, 'an orphaned object cannot be removed', remove)
}

/** Logs what did not succeed: it must not block all deploys. */
async function tryOrLog(ports: Parts, what: string, problem: string, act: () => Promise<void>) {
  try {
    await act()
    return true
  } catch (error) {
    if (codeOf(error) === 'docker_unavailable') throw error
    ports.logger.warn({ what, reason: messageOf(error) }, problem)
    return false
  }
}
