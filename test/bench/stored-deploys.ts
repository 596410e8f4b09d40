// Fills a data directory with services and deploys in the product's own format: one deploy of each kind runs
// under the supervisor, and the others are copies with new ids.
// A copy has only the first entry of its history.
import { catalogue } from '../../machines/index.ts'
import { createLogger } from '../../src/logger.ts'
import { Supervisor } from '../../src/supervisor/supervisor.ts'
import type { ActorRecord, ActorRow, Transition } from '../../storage/actors/actors.ts'
import { openStorage, type Storage } from '../../storage/index.ts'
import type { ServiceRow } from '../../storage/services.ts'
import { serviceRow } from '../support/storage/store-fixtures.ts'
import { instantEffects, instantImage } from './instant-effects.ts'

export interface Wanted {
  services: number
  /** The number of ended deploys per service. */
  endedDeploys: number
  /** Whether each service also has a live one. */
  live: boolean
  /** Changes to a default web service. */
  settings?: Partial<ServiceRow>
  /** The image of the deploys; by default one that does not exist. */
  image?: string
}

const at = '2026-01-01T00:00:00.000Z'
const commitsAtOnce = 1000

/** Creates the data directory; returns the ids of the services. */
export async function storeDeploys(directory: string, wanted: Wanted): Promise<string[]> {
  const storage = await openStorage(directory, { onPanic: fail })
  try {
    return await fill(storage, wanted)
  } finally {
    await storage.close()
  }
}

async function fill(storage: Storage, wanted: Wanted): Promise<string[]> {
  const { services, endedDeploys, live, settings, image } = wanted
  const ended = withImage(await measureLife(storage, []), image)
  const living = live ? withImage(await measureLife(storage, ['keepInstances']), image) : null
  const ids = Array.from({ length: services }, () => storage.ids.newId('svc'))
  await inBatches(ids, (id, index) =>
    storage.services.create(serviceRow({ ...settings, id, name: `service-${index}` })),
  )
  const owners = ids.flatMap((id) => Array.from({ length: endedDeploys }, () => id))
  await inBatches(owners, (id) => storage.actors.create(copyFor(storage, ended, id)))
  if (living) await inBatches(ids, (id) => storage.actors.create(copyFor(storage, living, id)))
  return ids
}

interface Life {
  row: ActorRow
  record: ActorRecord
}

/** Runs a whole deploy; it stops where a held effect would have to finish. */
async function measureLife(storage: Storage, held: string[]): Promise<Life> {
  const service = serviceRow({ id: storage.ids.newId('svc'), name: `example-${held.length}` })
  const id = storage.ids.newId('dep')
  await storage.services.create(service)
  const supervisor = new Supervisor({ storage, catalogue, logger: createLogger({ level: 'error' }) })
  const { effects, whenHeld } = instantEffects(held)
  supervisor.provide(effects)
  await supervisor.spawn('deploy', id, deployInput(id, service.id))
  if (held.length > 0) await whenHeld(1)
  else await whenFinal(storage, id)
  await supervisor.stop()
  const life = { row: storage.actors.get(id)!, record: storage.actors.record(id)! }
  // Parked, so that a restart does not resume the example itself.
  if (!life.row.final) await storage.actors.park(id, 'an example', at)
  return life
}

function withImage(life: Life, image = instantImage): Life {
  return JSON.parse(JSON.stringify(life).replaceAll(instantImage, image))
}

function deployInput(id: string, serviceId: string): object {
  const repository = { repo_url: 'https://example.com/shop.git', branch: 'main', commit: null }
  const source = { kind: 'git', ...repository, image: null, deploy_id: null }
  const limits = { fetchMs: 600_000, buildMs: 3_600_000, startMs: 120_000 }
  return { id, serviceId, trigger: 'manual', source, clearCache: false, limits, at }
}

async function whenFinal({ actors }: Storage, id: string): Promise<void> {
  while (!actors.get(id)?.final) await new Promise((resolve) => setImmediate(resolve))
}

function copyFor(storage: Storage, life: Life, serviceId: string): Transition {
  const id = storage.ids.newId('dep')
  const named = JSON.stringify(life).replaceAll(life.row.id, id).replaceAll(life.row.service_id!, serviceId)
  const { row, record }: Life = JSON.parse(named)
  const entry = { at, event: 'created', state: record.status, status: record.status, phase: null, by: null }
  const service = row.final ? null : { live_deploy_id: id, desired_deploy_id: id }
  return { row, record, entry, service, event: null }
}

/** Concurrent commits share one write to disk. */
async function inBatches<T>(items: T[], write: (item: T, index: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < items.length; from += commitsAtOnce) {
    await Promise.all(items.slice(from, from + commitsAtOnce).map((item, index) => write(item, from + index)))
  }
}

function fail(reason: string): never {
  throw new Error(reason)
}
