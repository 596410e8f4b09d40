// The changes to the variables of a service, shown by key and never with a value.
import type { EnvVar } from '../../api/env.ts'
import { type Output, plain } from '../terminal/output.ts'

export interface EnvDifference {
  added: EnvVar[]
  changed: EnvVar[]
  removed: string[]
}

const mask = '••••••'

export function compareEnv(previous: EnvVar[], wanted: EnvVar[]): EnvDifference {
  const values = new Map(previous.map(({ key, value }) => [key, value]))
  const keys = new Set(wanted.map(({ key }) => key))
  return {
    added: wanted.filter(({ key }) => !values.has(key)),
    changed: wanted.filter(({ key, value }) => values.has(key) && values.get(key) !== value),
    removed: previous.map(({ key }) => key).filter((key) => !keys.has(key)),
  }
}

export function isEmpty({ added, changed, removed }: EnvDifference): boolean {
  return added.length + changed.length + removed.length === 0
}

/** Prints `+ KEY ••••••`, `~ KEY •••••• → ••••••`, `- KEY` on stderr, for the user to confirm. */
export function showDifference(out: Output, { added, changed, removed }: EnvDifference): void {
  const keys = [...added.map(({ key }) => key), ...changed.map(({ key }) => key), ...removed]
  const columns = Math.max(...keys.map((key) => key.length))
  const line = (style: 'green' | 'yellow' | 'red', sign: string, key: string, value: string) =>
    out.say(
      `  ${out.tint(style, `${sign} ${plain(key).padEnd(columns)}`)}  ${out.tint('dim', value)}`.trimEnd(),
    )
  for (const { key } of added) line('green', '+', key, mask)
  for (const { key } of changed) line('yellow', '~', key, `${mask} → ${mask}`)
  for (const key of removed) line('red', '-', key, '')
}

/** The default display of a value: a mask, or nothing for an empty value. */
export function masked(value: string | null): string {
  return value === '' ? '' : mask
}
