// Fills a data directory with services and ended deploys in the product's own format: one deploy goes through
// its chart, and the others are copies with new ids.
// A copy has only the first entry of its history.
import { type DeploySnapshot, machine, toRecord, version } from '../../machines/deploy/deploy.ts'
import type { Transition } from '../../storage/actors/actors.ts'
import { openStorage, type Storage } from '../../storage/index.ts'
import { deployInput, happyEffects } from '../support/machines/deploy-chart.ts'
import { runMachine } from '../support/machines/machine-run.ts'
import { serviceRow, transitionOf } from '../support/storage/store-fixtures.ts'

const example = { id: 'dep-example', serviceId: 'svc-example' }
const commitsAtOnce = 1000

/** Creates the data directory with this many deploys per service; returns the ids of the services. */
export async function storeDeploys(directory: string, services: number, deploys: number): Promise<string[]> {
  const storage = await openStorage(directory, { onPanic: fail })
  try {
    const life = await measureLife()
    const ids = Array.from({ length: services }, () => storage.ids.newId('svc'))
    await inBatches(ids, (id, index) => storage.services.create(serviceRow({ id, name: `service-${index}` })))
    const owners = ids.flatMap((id) => Array.from({ length: deploys }, () => id))
    await inBatches(owners, (id) => storage.actors.create(copyFor(storage, life, id)))
    return ids
  } finally {
    await storage.close()
  }
}

/** The row and the record of a whole deploy, as JSON. */
async function measureLife(): Promise<string> {
  const run = runMachine(machine, happyEffects(), { input: deployInput(example) })
  await run.reached('deactivated')
  const row = { id: example.id, service_id: example.serviceId, version, final: true }
  const record = toRecord(run.actor.getSnapshot() as DeploySnapshot)
  return JSON.stringify({ row: { ...row, snapshot: run.snapshots.at(-1) }, record })
}

function copyFor(storage: Storage, life: string, serviceId: string): Transition {
  const id = storage.ids.newId('dep')
  const { row, record } = JSON.parse(life.replaceAll(example.id, id).replaceAll(example.serviceId, serviceId))
  const transition = transitionOf(row, { status: record.status })
  return { ...transition, record: { ...transition.record, ...record } }
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
