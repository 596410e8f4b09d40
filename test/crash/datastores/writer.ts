// Writes one numbered row after the other into a datastore, over all that happens to it, and remembers what
// it was told.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Chance } from '../chance.ts'
import type { DatastoreEntry } from './book.ts'
import { openLineClient } from './line-client.ts'
import { rowKinds } from './rows.ts'

/** By the port of the host, or by the container's own address in its network. */
export type Way = 'port' | 'network'

export interface Writer {
  entry: DatastoreEntry
  way: Way
  url: string
  /** The table or the hash. */
  place: string
  sent: Map<number, string>
  acknowledged: number[]
  acknowledgedAt: number[]
  /** Connections that had served, and broke. */
  breaks: { at: number; words: string }[]
  /** Of rows, or connections, that failed. */
  failures: number
}

const pauseMs = { least: 2, most: 25 }
const againMs = 50

export function createWriter(entry: DatastoreEntry, way: Way, url: string): Writer {
  const place = `kept_by_${way}`
  const told = { sent: new Map<number, string>(), acknowledged: [], acknowledgedAt: [], breaks: [] }
  return { entry, way, url, place, ...told, failures: 0 }
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

/** A row that got no answer is not tried again: whether it was written stays unknown. */
async function writeRow(
  { entry, place, sent, acknowledged, acknowledgedAt }: Writer,
  ask: (line: string) => Promise<string>,
  chance: Chance,
): Promise<void> {
  const row = { number: sent.size + 1, word: `word-${chance.whole(0, 0xffffff).toString(16)}` }
  sent.set(row.number, row.word)
  const kind = rowKinds[entry.kind]
  const answer = await ask(kind.statement(place, row))
  if (!kind.isAcknowledged(answer, row)) throw new Error(answer)
  acknowledged.push(row.number)
  acknowledgedAt.push(performance.now())
}
