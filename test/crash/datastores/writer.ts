// Writes numbered rows into a datastore, across all incidents, and records which it acknowledged.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Drill } from '../drill.ts'
import type { Chance } from '../random.ts'
import { openLineClient, runClient } from './line-client.ts'
import { type Row, rowFaults, rowKinds } from './rows.ts'
import type { DatastoreEntry } from './users.ts'

/** Connects to the host's port, or to the container's address in its network. */
type Way = 'port' | 'network'

export interface Writer {
  entry: DatastoreEntry
  way: Way
  url: string
  /** The port changes if Docker does not release it. */
  readUrl(): Promise<string>
  /** The table or hash. */
  place: string
  sent: Map<number, string>
  acknowledged: number[]
  /** Established connections that broke. */
  breaks: { at: number; words: string }[]
}

const pauseMs = { least: 2, most: 25 }
const againMs = 50

export async function createWriter(
  directory: string,
  entry: DatastoreEntry,
  way: Way,
  readUrl: Writer['readUrl'],
): Promise<Writer> {
  const url = await readUrl()
  const place = `kept_by_${way}`
  const preparation = rowKinds[entry.kind].preparation(place)
  if (preparation !== null) await runClient(directory, entry.kind, url, preparation)
  return { entry, way, url, readUrl, place, sent: new Map(), acknowledged: [], breaks: [] }
}

export async function writeRows(writer: Writer, directory: string, chance: Chance, isOver: () => boolean) {
  while (!isOver()) {
    const client = openLineClient(directory, writer.entry.kind, writer.url)
    const before = writer.acknowledged.length
    try {
      while (!isOver()) {
        await writeRow(writer, (line) => client.ask(line), chance)
        await sleep(chance.between(pauseMs.least, pauseMs.most))
      }
    } catch (error) {
      const hasServed = writer.acknowledged.length > before
      if (hasServed) writer.breaks.push({ at: Date.now(), words: (error as Error).message })
      else writer.url = await writer.readUrl()
    } finally {
      await client.close()
    }
    await sleep(againMs)
  }
}

/** A row without a response is not retried: whether it was written remains unknown. */
async function writeRow(
  writer: Writer,
  ask: (line: string) => Promise<string>,
  chance: Chance,
): Promise<void> {
  const { entry, place, sent, acknowledged } = writer
  const row: Row = { number: sent.size + 1, word: `word-${chance.whole(0, 0xffffff).toString(16)}` }
  sent.set(row.number, row.word)
  const kind = rowKinds[entry.kind]
  const response = await ask(kind.statement(place, row))
  if (!kind.isAcknowledged(response, row)) throw new Error(response)
  acknowledged.push(row.number)
}

/** A connection may break because of Docker or a requested restart, never because of a kill. */
export function checkBreaks({ incidents, ledger, victim }: Drill, writers: Writer[]): void {
  for (const { entry, way, breaks } of writers) {
    for (const { at, words } of breaks.filter((one) => !incidents.wasDisturbed(entry.id, one.at, one.at))) {
      const { startedAt } = victim.lives.findLast((life) => life.startedAt < at)!
      const text = `${entry.name} by its ${way}, ${at - startedAt} ms after a start of the daemon: ${words}`
      ledger.addViolation('datastores serve without the daemon', text)
    }
  }
}

/** Reads the rows with a new client; the daemon may be down. */
export async function checkWrittenRows(
  { ledger }: Drill,
  directory: string,
  writers: Writer[],
): Promise<void> {
  for (const { entry, url, place, sent, acknowledged } of writers) {
    const faults = await rowKinds[entry.kind].readAll(directory, url, place).then(
      (records) => rowFaults(records, { sent, acknowledged }),
      (error: Error) => [error.message],
    )
    for (const fault of faults)
      ledger.addViolation('no acknowledged row is lost', `${entry.name} ${place}: ${fault}`)
  }
}
