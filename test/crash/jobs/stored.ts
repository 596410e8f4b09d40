// Checks the files after the daemon has stopped: logs, addresses and rows of existing objects and no others.
import { openStorage } from '../../../storage/index.ts'
import { openStore, type Store } from '../../../storage/store/store.ts'
import { rowsOf } from '../../support/storage/table-rows.ts'
import type { Ledger } from '../ledger.ts'

export interface Stored {
  ledger: Ledger
  /** Existing services. */
  serviceIds: string[]
  /** All their runs. */
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
/** A longer history has lost its middle by design. */
const longestHistory = 510

export async function checkStored(dataDir: string, stored: Stored): Promise<void> {
  await checkFiles(dataDir, stored)
  const { ledger } = stored
  const store = openStore(dataDir, { onPanic: (reason) => ledger.addViolation(intact, reason) })
  try {
    checkActors(store, stored)
  } catch (error) {
    ledger.addViolation(intact, String(error))
  } finally {
    await store.close()
  }
}

async function checkFiles(dataDir: string, { ledger, runIds }: Stored): Promise<void> {
  const storage = await openStorage(dataDir, { onPanic: (reason) => ledger.addViolation(intact, reason) })
  try {
    const logs = (await storage.logs.ids()).filter((id) => id.startsWith('job-'))
    for (const id of logs.filter((logName) => !runIds.includes(logName)))
      ledger.addViolation(noOrphans, `the log of ${id}, which is unknown`)
    for (const id of runIds.filter((runId) => !logs.includes(runId)))
      ledger.addViolation('every acknowledged run has a record', `${id} has no log`)
    for (const id of logs.filter((logName) => !storage.logs.isEnded(logName)))
      ledger.addViolation('logs end', `the log of ${id} has no end on disk`)
    for (const id of storage.addresses.deployIds())
      if (id.startsWith('job-')) ledger.addViolation(noOrphans, `${id} has finished but holds an address`)
  } finally {
    await storage.close()
  }
}

/** Reading a row verifies its checksum. */
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
      ledger.addViolation('histories have no gap', `${id}: ${kept} entries for ${revision} transitions`)
    if (parked) ledger.addViolation('no actor is parked', `${id}: ${parked}`)
    if (restarts > 0) ledger.addViolation('no actor is restarted', `${id}: ${restarts} times`)
    const isRun = id.startsWith('job-')
    if (isRun && !final) ledger.addViolation('every run ends', `${id} has not finished on disk`)
    if (isRun && !runIds.includes(id)) ledger.addViolation(noOrphans, `a row of ${id}, which is unknown`)
    // Removal records remain, so that a repeated removal request can be answered.
    if (!id.startsWith('svc-') && !serviceIds.includes(service_id))
      ledger.addViolation(noOrphans, `${id} of a removed service`)
  }
  const active = [...store.table('active').keys()].length
  const unfinished = rows.filter(({ final, parked }) => !final && !parked).length
  if (active !== unfinished)
    ledger.addViolation(intact, `${active} actors are listed as active, expected ${unfinished}`)
}
