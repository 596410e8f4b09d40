// Numbered rows in a datastore: how each kind writes one and reads all of them.
// Only the server's response acknowledges a row.
import { type Kind, runClient } from './line-client.ts'

export interface Row {
  number: number
  word: string
}

interface RowKind {
  /** The setup command, or null. */
  preparation(place: string): string | null
  statement(place: string, row: Row): string
  isAcknowledged(answer: string, row: Row): boolean
  readAll(directory: string, url: string, place: string): Promise<Row[]>
}

export const rowKinds: Record<Kind, RowKind> = {
  postgres: {
    preparation: (place) => `create table ${place} (number bigint primary key, word text not null)`,
    statement: (place, { number, word }) =>
      `insert into ${place} values (${number}, '${word}') returning number;`,
    isAcknowledged: (response, { number }) => response === String(number),
    async readAll(directory, url, place) {
      const select = `select number, word from ${place} order by number`
      const lines = linesOf(await runClient(directory, 'postgres', url, select))
      return lines.map((line) => toRow(...(line.split('|') as [string, string])))
    },
  },
  redis: {
    preparation: () => null,
    statement: (place, { number, word }) => `HSET ${place} ${number} ${word}`,
    isAcknowledged: (response) => response === '1',
    async readAll(directory, url, place) {
      const lines = linesOf(await runClient(directory, 'redis', url, 'hgetall', place))
      const numbers = lines.filter((_, index) => index % 2 === 0)
      return numbers.map((number, index) => toRow(number, lines[index * 2 + 1]!))
    },
  },
}

/** A text per fault: rows that were lost, changed, or never sent. */
export function rowFaults(
  records: readonly Row[],
  { sent, acknowledged }: { sent: ReadonlyMap<number, string>; acknowledged: readonly number[] },
): string[] {
  const found = new Set(records.map(({ number }) => number))
  const lost = acknowledged.filter((number) => !found.has(number))
  const foreign = records.filter(({ number, word }) => sent.get(number) !== word).map(({ number }) => number)
  const twice = records.length - found.size
  return [
    ...describe('acknowledged and not there', lost, acknowledged.length),
    ...describe('there and never sent like that', foreign, records.length),
    ...(twice === 0 ? [] : [`${twice} are there twice`]),
  ]
}

function describe(what: string, numbers: number[], of: number): string[] {
  if (numbers.length === 0) return []
  return [`${numbers.length} of ${of} rows ${what}: ${numbers.slice(0, 10).join(', ')}`]
}

function linesOf(output: string): string[] {
  return output.split('\n').filter((line) => line !== '')
}

function toRow(number: string, word: string): Row {
  return { number: Number(number), word }
}
