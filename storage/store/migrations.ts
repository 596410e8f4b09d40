// The store's schema: a stored number, and the steps from each schema to the next.
// A store of a newer Berth is refused: rows written by this version would lose the newer fields.
import type { TokenRow } from '../access/hashed-tokens.ts'
import { ActorIndex } from '../actors/actor-index.ts'
import type { ActorRecord, ActorRow } from '../actors/actor-row.ts'
import { openFormerNames, toCurrentNames } from '../former-names.ts'
import { Domains, type ServiceRow, settingsOfSchema2, settingsOfSchema3 } from '../services.ts'
import { StorageError } from './errors.ts'
import { openRedundantValue } from './redundant-value.ts'
import type { Store } from './store.ts'

/** Step n brings a store from schema n to n + 1, inside one commit. */
export type Migration = (store: Store, mac: (text: string) => string) => void

const migrations: Migration[] = [addSourceSettings, addDomains, addTokenRoles, addNameMacs, addAutoDeploys]

/** Schema 2: images, archives and static sites. Releases are sealed, so they are completed on each read. */
function addSourceSettings(store: Store): void {
  const services = store.table<ServiceRow>('services')
  for (const { key, value } of [...services.validRows()]) {
    services.put(key, { ...settingsOfSchema2, ...value, archive_deploy_id: null })
  }
}

/** Schema 3: an index of custom domains, and the edge settings of each service. */
function addDomains(store: Store): void {
  const services = store.table<ServiceRow>('services')
  const domains = new Domains(store)
  for (const { key, value } of [...services.validRows()]) {
    services.put(key, { ...settingsOfSchema3, ...value })
    domains.move(value.id, [], value.custom_domains)
  }
}

/** Schema 4: roles of tokens. An earlier version ignores them, so it must not open the store. */
function addTokenRoles(store: Store): void {
  const tokens = store.table<TokenRow>('tokens')
  for (const { key, value } of [...tokens.validRows()]) {
    tokens.put(key, { ...value, role: 'admin', services: null })
  }
}

/**
 * Schema 5: names of images carry a MAC. The images themselves are renamed once the engine answers. Parked
 * actors are listed: at first, only their rows said so.
 */
function addNameMacs(store: Store, mac: (text: string) => string): void {
  const rows = store.table<ActorRow>('actors')
  const records = store.table<ActorRecord>('records')
  const index = new ActorIndex(store)
  for (const { key, value: row } of [...rows.validRows()]) {
    if (row.parked && !row.final && !index.parkNote(row))
      index.park(row, { at: null, code: 'failed_repeatedly', reason: row.parked })
    if (row.kind !== 'deploy' && row.kind !== 'job-run') continue
    const isOwn = (deployId: string) => rows.getOrNull(deployId)?.service_id === row.service_id
    rows.put(key, toCurrentNames(row, isOwn, mac))
    const record = records.getOrNull(key)
    if (record) records.put(key, toCurrentNames(record, isOwn, mac))
  }
  openFormerNames(store).expect()
}

export const schemaOfAutoDeploys = 6

/** Schema 6: automatic deploys. No service begins them by itself: the field said true and had no effect. */
function addAutoDeploys(store: Store): void {
  const services = store.table<ServiceRow>('services')
  for (const { key, value } of [...services.validRows()]) services.put(key, { ...value, auto_deploy: false })
}

/** The schema that this version writes, and the newest one that it opens. */
export const currentSchema = migrations.length + 1

/** Null for a new store. */
export function storedSchemaOf(store: Store): number | null {
  return openRedundantValue<number>(store, 'meta', 'schema').get()
}

/** For callers that must not migrate. Throws `store_other_version`. */
export function requireCurrentSchema(store: Store): void {
  const storedSchema = storedSchemaOf(store)
  if (storedSchema === currentSchema) return
  throw new StorageError(
    'store_other_version',
    `the data directory has schema ${storedSchema}, this version of Berth has ${currentSchema}: ` +
      'start its server first',
  )
}

/** Brings the store to this version's schema; `copy` keeps the former one before. Throws `store_too_new`. */
export async function migrate(
  store: Store,
  mac: (text: string) => string,
  steps: Migration[] = migrations,
  copy: (schema: number) => Promise<void> = async () => undefined,
): Promise<void> {
  const schema = openRedundantValue<number>(store, 'meta', 'schema')
  const current = steps.length + 1
  const storedSchema = schema.get()
  if (storedSchema !== null && storedSchema > current) {
    throw new StorageError(
      'store_too_new',
      `the data directory has schema ${storedSchema}, this version of Berth knows up to ${current}`,
    )
  }
  if (storedSchema !== null && storedSchema < current) await copy(storedSchema)
  for (let step = storedSchema ?? current; step < current; step++) {
    await store.commit(() => {
      steps[step - 1]!(store, mac)
      schema.put(step + 1)
    })
  }
  await schema.repair(current)
}
