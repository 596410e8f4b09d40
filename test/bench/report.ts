// The printed results.
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
  return [head, widths.map((width) => '-'.repeat(width)), ...rows].map(toLine).join('\n')
}
