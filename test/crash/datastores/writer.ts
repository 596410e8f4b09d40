// Writes numbered rows into a datastore continuously, across all incidents, and records
// what was acknowledged.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Chance } from '../random.ts'
import type { DatastoreEntry } from './book.ts'
import { openLineClient } from './line-client.ts'
import { rowKinds } from './rows.ts'

/** Connects to the host's port, or to the container's address in its network. */
export type Way = 'port' | 'network'

export interface Writer {
  entry: DatastoreEntry
  way: Way
  url: string
  /** The table or hash. */
  table: string
  sent: Map<number, string>
  acknowledged: number[]
  acknowledgedAt: number[]
  /** Established connections that broke. */
  breaks: { at: number; words: string }[]
  /** Failed rows or connections. */
  failures: number
}

const pauseMs = { least: 2, most: 25 }
const againMs = 50

export function createWriter(entry: DatastoreEntry, way: Way, url: string): Writer {
  const table = `kept_by_${way}`
  const rows = { sent: new Map<number, string>(), acknowledged: [], acknowledgedAt: [], breaks: [] }
  return { entry, way, url, table: table, ...rows, failures: 0 }
}

export async function writeRows(
  writer: Writer,
  { prepared, isOver, chance }: { prepared: string; isOver: () => boolean; chance: Chance },
): Promise<void> {
  while (!isOver()) {
    const client = openLineClient(prepared, writer.entry.kind, writer.url)
    const before = writer.acknowledged.length
    try {
      while (!isOver()) {
        await writeRow(writer, (line) => client.ask(line), chance)
        await sleep(chance.between(pauseMs.least, pauseMs.most))
      }
    } catch (error) {
      writer.failures++
      const hasServed = writer.acknowledged.length > before
      if (hasServed) writer.breaks.push({ at: performance.now(), words: (error as Error).message })
    } finally {
      await client.close()
    }
    await sleep(againMs)
  }
}

/** A row without a response is not retried: whether it was written remains unknown. */
async function writeRow(
  { entry, table, sent, acknowledged, acknowledgedAt }: Writer,
  ask: (line: string) => Promise<string>,
  chance: Chance,
): Promise<void> {
  const row = { number: sent.size + 1, word: `word-${chance.whole(0, 0xffffff).toString(16)}` }
  sent.set(row.number, row.word)
  const kind = rowKinds[entry.kind]
  const response = await ask(kind.statement(table, row))
  if (!kind.isAcknowledged(response, row)) throw new Error(response)
  acknowledged.push(row.number)
  acknowledgedAt.push(performance.now())
}
