// Why each image of this server is needed. Removals of an image or of its deploy's record check here first.
import type { Storage } from '../../../storage/index.ts'
import { imageName, type Owner } from '../../docker/engine/names.ts'
import type { OwnImage } from '../../docker/images/images.ts'
import { codeOf } from '../../errors.ts'

export type ImageNeed =
  /** A live, unfinished or parked actor runs it, builds it, or will run it. */
  | 'in-use'
  /** A finished deploy can be rolled back to with it. Retention limits how many of these stay. */
  | 'version'
  /** Its deploy was discarded before it recorded an image. A user decides about it. */
  | 'left-behind'

interface Scope {
  serviceId?: string
  /** This deploy is being cleaned up and needs nothing. */
  endingId?: string | undefined
}

type Parts = { owner: Owner; storage: Pick<Storage, 'actors' | 'services'> }
type NamedImage = Pick<OwnImage, 'name' | 'service' | 'deployId' | 'isTree'>

/** The function returns null for an unused image. `present`: the names of all existing images. */
export function imagesInUse({ owner, storage }: Parts, scope: Scope = {}) {
  const used = namesInUse(storage, scope)
  return (image: NamedImage, present: ReadonlySet<string> = new Set()): ImageNeed | null => {
    const { name, deployId, isTree, service } = image
    if (used.has(name)) return 'in-use'
    // A tree exists only for the build of the site that is made from it.
    if (isTree && present.has(imageName(owner, service, deployId))) return null
    const state = deployId === scope.endingId ? 'finished' : ownerState(storage.actors, deployId)
    if (state === 'unfinished') return 'in-use'
    if (isRecorded(storage.actors, image)) return 'version'
    return state === 'discarded' ? 'left-behind' : null
  }
}

/** Deploys and runs that are active or parked, and so still read records, releases and images. */
export function unfinishedActors(actors: Storage['actors'], { serviceId, endingId }: Scope) {
  const idsOf = (kind: string) =>
    [...actors.active(kind, serviceId), ...actors.parked(kind, serviceId)].map(({ id }) => id)
  const deployIds = idsOf('deploy').filter((id) => id !== endingId)
  return {
    deploys: deployIds.map((id) => actors.record<'deploy'>(id)),
    runs: idsOf('job-run').map((id) => actors.record<'job-run'>(id)),
  }
}

function namesInUse({ actors, services }: Parts['storage'], scope: Scope): Set<unknown> {
  const { deploys, runs } = unfinishedActors(actors, scope)
  const rows = scope.serviceId ? [services.get(scope.serviceId)] : services.list()
  const others = [
    // A queued rollback has no image yet, but its target must still exist when its turn comes.
    ...deploys.map((record) => record?.source?.deploy_id),
    // A queued restart or run uses the version that is live when its turn comes, even if that deploy
    // was parked.
    ...rows.flatMap((row) => [row?.live_deploy_id, row?.desired_deploy_id]),
  ]
  const targets = others.map((id) => (id ? actors.record<'deploy'>(id) : null))
  return new Set([...deploys, ...runs, ...targets].map((record) => record?.image))
}

/** An unknown actor counts as finished, a damaged row as unfinished: its actor is parked, or soon will be. */
export function ownerState(actors: Storage['actors'], id: string): 'unfinished' | 'discarded' | 'finished' {
  try {
    const row = actors.get(id)
    if (row && !row.final) return 'unfinished'
    return row?.parked ? 'discarded' : 'finished'
  } catch (error) {
    if (codeOf(error) === 'row_damaged') return 'unfinished'
    throw error
  }
}

/** A builder may name an image after its deploy was cleaned up. A damaged record proves nothing. */
export function isRecorded(actors: Storage['actors'], { name, deployId }: NamedImage): boolean {
  const record = actors.record(deployId)
  return record !== null && (record.image === undefined || record.image === name)
}
