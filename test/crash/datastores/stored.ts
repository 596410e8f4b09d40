// Checks the files after the daemon has stopped: rows of existing datastores and no others.
// Histories of removed datastores remain and are checked too.
import { openStore, type Store } from '../../../storage/store/store.ts'
import { rowsOf } from '../../support/storage/table-rows.ts'
import { living, type RunState } from './book.ts'

interface ActorRow {
  id: string
  revision: number
  restarts: number
  final: boolean
  parked: string | null
}

const intact = 'the store is intact'
const noOrphans = 'nothing on disk is orphaned'
/** A longer history has lost its middle by design. */
const longestHistory = 510

export async function checkStored(dataDir: string, book: RunState): Promise<void> {
  const { ledger } = book
  const store = openStore(dataDir, { onPanic: (reason) => ledger.addViolation(intact, reason) })
  try {
    checkActors(store, book)
    checkTables(store, book)
  } catch (error) {
    ledger.addViolation(intact, String(error))
  } finally {
    await store.close()
  }
}

/** Reading a row verifies its checksum. */
function checkActors(store: Store, { ledger }: RunState): void {
  const rows = rowsOf(store.table<ActorRow>('actors')).map(({ value }) => value)
  const histories = keysOf(store, 'history')
  for (const { id, revision, parked, restarts } of rows) {
    const entries = histories.filter((key) => key.startsWith(`["${id}",`)).length
    if (entries !== Math.min(revision, longestHistory))
      ledger.addViolation('histories have no gap', `${id}: ${entries} entries for ${revision} transitions`)
    if (parked) ledger.addViolation('no actor is parked', `${id}: ${parked}`)
    if (restarts > 0) ledger.addViolation('no actor is restarted', `${id}: ${restarts} times`)
  }
  const active = keysOf(store, 'active').length
  const unfinished = rows.filter(({ final, parked }) => !final && !parked).length
  if (active !== unfinished)
    ledger.addViolation(intact, `${active} actors are listed as active, expected ${unfinished}`)
}

function checkTables(store: Store, book: RunState): void {
  const { ledger } = book
  const there = living(book)
  const ids = JSON.stringify(there.map(({ id }) => id).sort())
  for (const table of ['datastores', 'datastore_passwords']) {
    const found = `[${keysOf(store, table).sort().join()}]`
    if (found !== ids) ledger.addViolation(noOrphans, `${table}: ${ids} are expected, found ${found}`)
  }
  for (const table of ['names', 'datastore_ports', 'addresses', 'deploy_addresses']) {
    const found = keysOf(store, table)
    if (found.length === there.length) continue
    ledger.addViolation(noOrphans, `${table}: ${found.join(', ')} for ${there.length} datastores`)
  }
}

function keysOf(store: Store, table: string): string[] {
  return rowsOf(store.table(table)).map(({ key }) => JSON.stringify(key))
}
