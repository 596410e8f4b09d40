// The printed results: a table, and JSON for comparing runs, which describes the machine.
import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import type { PartResult } from './bench.ts'
import { formatGoal, formatValue, isMet } from './figure.ts'

export function toTable(results: PartResult[]): string {
  const head = ['part', 'figure', 'value', 'goal', '']
  const rows = results.flatMap(({ part, figures }) =>
    figures.map((figure, index) => {
      const verdict = { true: 'met', false: 'MISSED', null: '' }[`${isMet(figure)}`]
      return [index === 0 ? part : '', figure.name, formatValue(figure), formatGoal(figure), verdict]
    }),
  )
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]!.length)))
  const toLine = (row: string[]) =>
    row
      .map((cell, column) => (column === 2 ? cell.padStart(widths[2]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd()
  const table = [head, widths.map((width) => '-'.repeat(width)), ...rows].map(toLine)
  return [...table, '', ...crowdingLines(results)].join('\n')
}

/** Distinguishes a slow server from a busy machine. */
function crowdingLines(results: PartResult[]): string[] {
  const shares = results.flatMap(({ part, crowding }) =>
    crowding === null ? [] : [`${part} ${Math.round(crowding * 100)} %`],
  )
  return shares.length === 0
    ? []
    : [`CPU contention (share of time in which a task waited for a CPU): ${shares.join(', ')}`]
}

export function toJson(results: PartResult[]): string {
  const parts = results.map(({ part, durationSeconds, crowding, figures }) => ({
    part,
    duration_seconds: Math.round(durationSeconds),
    crowding,
    figures: figures.map((figure) => ({ ...figure, met: isMet(figure) })),
  }))
  return JSON.stringify({ at: new Date().toISOString(), machine: machine(), parts }, null, 2)
}

export function writeJson(path: string, results: PartResult[]): void {
  writeFileSync(path, `${toJson(results)}\n`)
}

function machine() {
  return { cpus: cpus().length, model: cpus()[0]?.model ?? null, node: process.version, load: loadavg() }
}
