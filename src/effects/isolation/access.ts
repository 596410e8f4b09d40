// Who may connect to whom, computed from the addresses of containers and the references in their env.
import type { HeldAddress } from '../../../storage/addresses.ts'
import type { Storage } from '../../../storage/index.ts'
import { preDeployIndex } from '../../docker/engine/names.ts'
import { type Reference, referencesIn } from '../../domain/env-references.ts'
import type { Access } from '../../firewall/rules.ts'

/** An existing container, or one that will be created. */
interface Holder {
  address: string
  /** The service or datastore that owns it. */
  ownerId: string
  /** Whether the name of its owner resolves to it; false for the container of a command. */
  isNamed: boolean
  /** The deploy whose env it has; null for a datastore. */
  deployId: string | null
}

/** Computes the access from the current records at each call. Caches the references of releases. */
export function createAccess(storage: Storage): () => Access {
  const known = new Map<string, Reference[]>()

  /** A release never changes, and opening one is expensive. */
  function referencesOf(deployId: string): Reference[] {
    const references = known.get(deployId) ?? readReferences(storage, deployId)
    if (references !== null) known.set(deployId, references)
    return references ?? []
  }

  return () => {
    const holders = storage.addresses.list().flatMap((row) => holderOf(storage, row) ?? [])
    const deployIds = new Set(holders.map(({ deployId }) => deployId))
    for (const id of known.keys()) if (!deployIds.has(id)) known.delete(id)
    return accessOf(storage, holders, referencesOf)
  }
}

function accessOf(
  storage: Storage,
  holders: Holder[],
  referencesOf: (deployId: string) => Reference[],
): Access {
  const byOwner = new Map<string, Holder[]>()
  for (const holder of holders) byOwner.set(holder.ownerId, [...(byOwner.get(holder.ownerId) ?? []), holder])
  const access: Access = { pairs: [], shared: [], hostPairs: [] }
  for (const { address, ownerId, isNamed, deployId } of holders) {
    if (isNamed && isShared(storage, ownerId)) access.shared.push(address)
    if (deployId === null) continue
    for (const own of byOwner.get(ownerId)!) {
      if (own.address !== address) access.pairs.push([address, own.address])
    }
    for (const reference of referencesOf(deployId)) {
      const targetId = targetOf(storage, reference)
      if (targetId === null || targetId === ownerId) continue
      for (const target of byOwner.get(targetId) ?? []) {
        if (target.isNamed) access.pairs.push([address, target.address])
      }
      const port = reference.noun === 'datastore' ? storage.datastores.port(targetId) : null
      if (port !== null) access.hostPairs.push([address, port])
    }
  }
  return access
}

/** Null if its record no longer exists: its container is removed soon. */
function holderOf(storage: Storage, { deploy_id: actorId, index, address }: HeldAddress): Holder | null {
  if (storage.datastores.has(actorId)) return { address, ownerId: actorId, isNamed: true, deployId: null }
  const record = storage.actors.record(actorId)
  if (typeof record?.service_id !== 'string') return null
  const { service_id: ownerId } = record
  // The record of a job run names its deploy; that of a deploy does not.
  if (typeof record.deploy_id === 'string') {
    return { address, ownerId, isNamed: false, deployId: record.deploy_id }
  }
  return { address, ownerId, isNamed: index < preDeployIndex, deployId: actorId }
}

/** Null if it cannot be read now. */
function readReferences(storage: Storage, deployId: string): Reference[] | null {
  const release = storage.releases.get(deployId)
  if (release === null) return null
  const found = release.env.flatMap(({ value }) => referencesIn(value))
  return found.filter((reference) => reference !== null)
}

function targetOf({ services, datastores }: Storage, { noun, name }: Reference): string | null {
  return noun === 'datastore' ? datastores.idOf(name) : (services.get(name)?.id ?? null)
}

function isShared({ services, datastores }: Storage, ownerId: string): boolean {
  return datastores.has(ownerId) ? datastores.isShared(ownerId) : isSharedService(services.get(ownerId))
}

/** A service from before this setting stays reachable by all. */
export function isSharedService(row: { shared_network?: boolean } | null): boolean {
  return row !== null && (row.shared_network ?? true)
}
