// The simulated users: some manage the datastores that are written to, one creates and deletes others.
// Expectations are recorded only for acknowledged requests. New limits count as saved even if the response
// says that Docker was unavailable.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Body } from '../../support/daemon/api.ts'
import { createLimit, type Drill } from '../drill.ts'
import type { Chance } from '../random.ts'
import type { Kind } from './line-client.ts'

export interface DatastoreEntry {
  id: string
  name: string
  kind: Kind
  /** The response to the creation. */
  answer: Body
  /** After the last acknowledged requests; null is the server's default. */
  wanted: { memory_limit_mb: number | null; cpu_limit: number | null }
  /**
   * Resolves with the response to the last change of its limits. Changes are serialized, because the order of
   * two concurrent ones is unknown.
   */
  limiting: Promise<void>
  /** Whether the deletion was acknowledged. */
  isDeleted: boolean
}

export interface Book {
  drill: Drill
  datastores: DatastoreEntry[]
  /**
   * Whether limits saved without Docker are being checked: they must be applied without any further request.
   */
  isLeftAlone: boolean
}

const memories = { postgres: [0, 128, 192, 256], redis: [0, 32, 64, 128] } as const
const cpus = [0, 0.5, 1, 1.5, 512] as const
const versions = { postgres: '15', redis: '7' } as const
const settleMs = 150_000
const pauseMs = { least: 50, most: 3000 }
/** About as long as a backup of an empty datastore takes. */
const backupMs = 800

export function living({ datastores }: Book): DatastoreEntry[] {
  return datastores.filter(({ isDeleted }) => !isDeleted)
}

export async function exerciseDatastore(book: Book, entry: DatastoreEntry, chance: Chance): Promise<void> {
  const { drill } = book
  while (!drill.isOver) {
    await sleep(chance.between(pauseMs.least, pauseMs.most))
    if (book.isLeftAlone) continue
    const act = chance.choose({ limit: 60, restart: 12, repeat: 28 })
    // Limits saved without Docker are checked separately; no others are set in that time.
    const isLimitable = !drill.incidents.wasEngineAway(Date.now())
    if (act === 'limit' && isLimitable) await limit(drill, entry, chance)
    else if (act === 'restart') await restart(drill, entry)
    else await drill.client.repeat(chance.pick(drill.ledger.orders))
  }
}

/** Creates one datastore after another, each with the name of the previous one. */
export async function churnDatastores(book: Book, chance: Chance): Promise<void> {
  const { drill } = book
  while (!drill.isOver) {
    const entry = await create(book, chance.choose({ redis: 65, postgres: 35 }), 'guest')
    if (chance.isTrue(0.3)) await limit(drill, entry, chance)
    if (chance.isTrue(0.3)) await drill.client.repeat(chance.pick(drill.ledger.orders))
    const backup = chance.isTrue(0.4) ? await backUp(drill, entry) : null
    await sleep(chance.between(0, backup === null ? pauseMs.most : backupMs))
    // The last one remains, because it must exist at the end.
    if (!drill.isOver) await remove(drill, entry)
    if (backup !== null) await removeEnded(drill, backup.id)
  }
}

/** Begins a backup, which fails when the datastore is deleted before its end. */
async function backUp(drill: Drill, entry: DatastoreEntry): Promise<Body | null> {
  await untilAvailable(drill, entry)
  const mayBeRefused = ({ body }: Answer) =>
    ['datastore_not_available', 'docker_unavailable', 'docker_error'].includes(body?.code)
  return drill.client.order(`/datastores/${entry.id}/backups`, undefined, {
    mayBeRefused,
    isGone: () => true,
  })
}

async function removeEnded(drill: Drill, backupId: string): Promise<void> {
  const { client, ledger } = drill
  for (const isTooLate = createLimit(drill, settleMs); ; await sleep(100)) {
    const record = await client.get(`/backups/${backupId}`)
    if (['good', 'failed'].includes(record.status)) break
    if (isTooLate()) return ledger.addViolation('every backup and restore ends', JSON.stringify(record))
  }
  await client.remove(`/backups/${backupId}`, '')
}

export async function create(book: Book, kind: Kind, name: string): Promise<DatastoreEntry> {
  const isGone = (): boolean => entry?.isDeleted ?? false
  let entry: DatastoreEntry | null = null
  const body = { kind, name, version: versions[kind] }
  const answer = await book.drill.client.order('/datastores', body, { isGone })
  if (!answer) throw new Error(`there is no datastore ${name}`)
  const wanted = { memory_limit_mb: null, cpu_limit: null }
  entry = { id: answer.id, name, kind, answer, wanted, limiting: Promise.resolve(), isDeleted: false }
  book.datastores.push(entry)
  return entry
}

export function limit(drill: Drill, entry: DatastoreEntry, chance: Chance): Promise<void> {
  const both = { memory_limit_mb: chance.pick(memories[entry.kind]), cpu_limit: chance.pick(cpus) }
  const [first, second] = Object.entries(both) as [[string, number], [string, number]]
  const changed = chance.pick([[first], [second], [first, second]])
  entry.limiting = entry.limiting.then(async () => {
    let isSaved = false
    const mayBeRefused = ({ body }: Answer) => {
      isSaved = /^limits of '.+' saved, but/.test(body?.detail)
      return isSaved
    }
    const path = `/datastores/${entry.id}`
    const body = Object.fromEntries(changed)
    const answer = await drill.client.ask({ method: 'PATCH', path, body }, mayBeRefused)
    if (answer === null && !isSaved) return
    for (const [key, value] of changed)
      entry.wanted[key as keyof DatastoreEntry['wanted']] = value === 0 ? null : value
  })
  return entry.limiting
}

/** Waits until it serves again; until then its clients expect failures. */
async function restart(drill: Drill, entry: DatastoreEntry): Promise<void> {
  const end = drill.incidents.begin(entry.id)
  const isGone = () => entry.isDeleted
  await drill.client.order(`/datastores/${entry.id}/restart`, undefined, { isGone })
  await untilAvailable(drill, entry)
  end()
}

/** Deletes it and waits until the name is free again. */
export async function remove(drill: Drill, entry: DatastoreEntry): Promise<void> {
  await drill.client.remove(`/datastores/${entry.id}`, 'purge=true', () => {
    entry.isDeleted = true
  })
}

export async function untilAvailable(drill: Drill, entry: DatastoreEntry): Promise<void> {
  const { client, ledger } = drill
  for (const isTooLate = createLimit(drill, settleMs); ; await sleep(50)) {
    const record = await client.get(`/datastores/${entry.id}`)
    if (record.status === 'available') return
    if (!isTooLate()) continue
    const evidence = [JSON.stringify({ ...record, password: undefined })]
    return ledger.addViolation('datastores recover', `${entry.name} does not recover`, evidence)
  }
}
