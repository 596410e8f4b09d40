// The figures of a run as a text table: the responses by operation, and the resources that the daemon used.
import { operations } from '../support/http/operations.ts'
import type { FuzzOutcome, Usage } from './run.ts'

export function table({ tally, usage, seconds, wrongs }: FuzzOutcome): string {
  const rows: [string, string][] = [
    ...[...tally.answers].sort().map(([what, count]): [string, string] => [what, String(count)]),
    ['requests', `${tally.requests} in ${Math.round(seconds)} s`],
    ['never successful', neverSuccessful(tally.answers).join(', ') || 'none'],
    ['memory in MiB', change(usage, ({ memoryMib }) => memoryMib)],
    ['handles', change(usage, ({ handles }) => handles)],
    ['faults', String(wrongs.length)],
  ]
  const width = Math.max(...rows.map(([what]) => what.length)) + 2
  return rows.map(([what, value]) => what.padEnd(width) + value).join('\n')
}

/** From the first tenth to the end; a run that failed earlier has neither. */
function change(usage: readonly Usage[], figure: (one: Usage) => number): string {
  const [first, last] = [usage[0], usage.at(-1)]
  return first && last ? `${Math.round(figure(first))} → ${Math.round(figure(last))}` : '?'
}

/** Operations without a successful response; a meaningful long run has none. */
function neverSuccessful(responses: ReadonlyMap<string, number>): string[] {
  return operations
    .map(({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`)
    .filter((what) => ![200, 201, 202, 204].some((status) => responses.has(`${what} ${status}`)))
}
