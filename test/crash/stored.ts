// Checks the files after the daemon has stopped: rows, indexes and logs, and no rows of removed objects.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { showActorLine } from '../../src/http/records/log-lines.ts'
import { openStorage, type Storage } from '../../storage/index.ts'
import type { LogLine } from '../../storage/log/logs.ts'
import { openStore, type Store } from '../../storage/store/store.ts'
import { rowsOf } from '../support/storage/table-rows.ts'
import type { Drill } from './drill.ts'
import type { Ledger } from './ledger.ts'
import type { Part } from './part.ts'

export interface StoreView {
  actors: ActorRow[]
  /** As JSON. Reading a row verifies its checksum. */
  keysOf(table: string): string[]
}

interface ActorRow {
  id: string
  service_id: string
  revision: number
  restarts: number
  final: boolean
  parked: string | null
}

export const noOrphans = 'nothing on disk is orphaned'
const intact = 'the store is intact'
/** A longer history has lost its middle by design. */
const longestHistory = 510
/** All rows of these are read, whatever the part checks. */
const tables = 'names env credentials events events_by_time releases addresses deploy_addresses services'

export async function checkStored(drill: Drill, part: Part, isEmpty: boolean): Promise<void> {
  const { ledger, victim } = drill
  const onPanic = (reason: string) => ledger.addViolation(intact, reason)
  const storage = await openStorage(victim.dataDir, { onPanic })
  try {
    await part.checkFiles?.(storage, isEmpty)
    await checkLogs(storage, drill, isEmpty ? [] : (part.loggedIds?.() ?? []))
  } finally {
    await storage.close()
  }
  const store = openStore(victim.dataDir, { onPanic })
  try {
    const view = openView(store)
    checkActors(view, ledger)
    part.checkRows(view, isEmpty)
  } catch (error) {
    ledger.addViolation(intact, String(error))
  } finally {
    await store.close()
  }
  const work = join(victim.dataDir, 'work')
  for (const name of existsSync(work) ? readdirSync(work) : [])
    ledger.addViolation(noOrphans, `the work directory ${name} remains`)
}

function openView(store: Store): StoreView {
  const keysOf = (table: string) => rowsOf(store.table(table)).map(({ key }) => JSON.stringify(key))
  for (const table of tables.split(' ')) keysOf(table)
  return { actors: rowsOf(store.table<ActorRow>('actors')).map(({ value }) => value), keysOf }
}

function checkActors({ actors, keysOf }: StoreView, ledger: Ledger): void {
  const entries = new Map<string, number>()
  for (const key of keysOf('history')) {
    const [id] = JSON.parse(key)
    entries.set(id, (entries.get(id) ?? 0) + 1)
  }
  for (const { id, revision, parked, restarts } of actors) {
    const kept = entries.get(id) ?? 0
    if (kept !== Math.min(revision, longestHistory))
      ledger.addViolation('histories have no gap', `${id}: ${kept} entries for ${revision} transitions`)
    if (parked) ledger.addViolation('no actor is parked', `${id}: ${parked}`)
    if (restarts > 0) ledger.addViolation('no actor is restarted', `${id}: ${restarts} times`)
  }
  const active = keysOf('active').length
  const unfinished = actors.filter(({ final, parked }) => !final && !parked).length
  if (active !== unfinished)
    ledger.addViolation(intact, `${active} actors are listed as active, expected ${unfinished}`)
}

/** Removal records remain, so that a repeated removal request can be answered; alerts remain as a record. */
export function checkOwners(
  { actors }: StoreView,
  { ledger, isForeign }: Pick<Drill, 'ledger' | 'isForeign'>,
  serviceIds: readonly string[],
): void {
  const own = actors.filter(({ id }) => !/^(svc|dsk|alr|ntf)-/.test(id) && !isForeign(id))
  for (const { id, service_id } of own.filter((actor) => !isForeign(actor.service_id)))
    if (!serviceIds.includes(service_id)) ledger.addViolation(noOrphans, `${id} of a removed service`)
}

/** Each log is there, has an end, and was streamed to its follower exactly as it is stored. */
async function checkLogs(
  { logs }: Storage,
  { ledger, followers, isForeign }: Drill,
  ids: string[],
): Promise<void> {
  const found = await logs.ids()
  const unknown = found.filter((id) => !ids.includes(id) && /^(dep|job)-/.test(id) && !isForeign(id))
  for (const id of unknown) ledger.addViolation(noOrphans, `the log of ${id}, which is unknown`)
  for (const id of ids) {
    if (!found.includes(id) || !logs.isEnded(id))
      ledger.addViolation('logs end', `the log of ${id} has no end on disk`)
    const seen = followers.all.find((follower) => follower.id === id)
    if (!seen) continue
    const stored = (await readLog(logs, id)).map((line) => JSON.stringify(showActorLine(line)))
    const at = stored.findIndex((line, index) => line !== seen.lines[index])
    if (seen.isEnded && seen.lines.length === stored.length && at < 0) continue
    const text = `${id}: ${seen.lines.length} lines streamed, ${stored.length} stored; line ${at} differs`
    const evidence = [...stored.slice(-5), '---', ...seen.lines.slice(-5)]
    ledger.addViolation('followers see every line once', text, evidence)
  }
}

export async function readLog(logs: Storage['logs'], id: string): Promise<LogLine[]> {
  const lines: LogLine[] = []
  for (;;) {
    const batch = await logs.batchAfter(id, lines.length)
    if (batch === null) return lines
    lines.push(...batch.lines.slice(lines.length + 1 - batch.first))
  }
}
