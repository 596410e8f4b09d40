// Checks of what is on disk after the daemon has stopped: logs, addresses and rows of what is there, and of
// nothing else.
import { openStorage } from '../../../storage/index.ts'
import { openStore, type Store } from '../../../storage/store/store.ts'
import { rowsOf } from '../../support/table-rows.ts'
import type { Ledger } from '../ledger.ts'

export interface Stored {
  ledger: Ledger
  /** The services that are there, */
  serviceIds: string[]
  /** and all runs of theirs. */
  runIds: string[]
}

interface ActorRow {
  id: string
  service_id: string
  revision: number
  restarts: number
  final: boolean
  parked: string | null
}

const intact = 'the store is intact'
const noOrphans = 'nothing on disk is orphaned'
/** A longer history has lost its middle by intention. */
const longestHistory = 510

export async function checkStored(dataDir: string, stored: Stored): Promise<void> {
  await checkFiles(dataDir, stored)
  const { ledger } = stored
  const store = openStore(dataDir, { onPanic: (reason) => ledger.breach(intact, reason) })
  try {
    checkActors(store, stored)
  } catch (error) {
    ledger.breach(intact, String(error))
  } finally {
    await store.close()
  }
}

async function checkFiles(dataDir: string, { ledger, runIds }: Stored): Promise<void> {
  const storage = await openStorage(dataDir, { onPanic: (reason) => ledger.breach(intact, reason) })
  try {
    const logs = (await storage.logs.ids()).filter((id) => id.startsWith('job-'))
    for (const id of logs.filter((one) => !runIds.includes(one)))
      ledger.breach(noOrphans, `the log of ${id}, which is not known`)
    for (const id of runIds.filter((one) => !logs.includes(one)))
      ledger.breach('every acknowledged run has a record', `${id} has no log`)
    for (const id of logs.filter((one) => !storage.logs.isEnded(one)))
      ledger.breach('logs end', `the log of ${id} has no end on disk`)
    for (const id of storage.addresses.deployIds())
      if (id.startsWith('job-')) ledger.breach(noOrphans, `${id} is over and holds an address`)
  } finally {
    await storage.close()
  }
}

/** Reading a row checks its sum. */
function checkActors(store: Store, { ledger, serviceIds, runIds }: Stored): void {
  const rows = rowsOf(store.table<ActorRow>('actors')).map(({ value }) => value)
  const entries = new Map<string, number>()
  for (const key of store.table('history').keys()) {
    const [id] = key as string[]
    entries.set(id!, (entries.get(id!) ?? 0) + 1)
  }
  for (const { id, revision, parked, restarts, service_id, final } of rows) {
    const kept = entries.get(id) ?? 0
    if (kept !== Math.min(revision, longestHistory))
      ledger.breach('histories have no gap', `${id}: ${kept} entries for ${revision} transitions`)
    if (parked) ledger.breach('no actor is parked', `${id}: ${parked}`)
    if (restarts > 0) ledger.breach('no actor is restarted', `${id}: ${restarts} times`)
    const isRun = id.startsWith('job-')
    if (isRun && !final) ledger.breach('every run ends', `${id} is not over on disk`)
    if (isRun && !runIds.includes(id)) ledger.breach(noOrphans, `a row of ${id}, which is not known`)
    // What removes a service stays: whoever asks for the removal again is told.
    if (!id.startsWith('svc-') && !serviceIds.includes(service_id))
      ledger.breach(noOrphans, `${id} of a service that is gone`)
  }
  const active = [...store.table('active').keys()].length
  const unfinished = rows.filter(({ final, parked }) => !final && !parked).length
  if (active !== unfinished) ledger.breach(intact, `${active} actors are listed as active, ${unfinished} are`)
}
