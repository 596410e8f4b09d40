// Applies and compares changes of env variables. Comparisons contain keys only, because values are secret.

import { type ChangeEnv, type EnvChanges, type EnvVar, isWithinTotal } from '../../api/env.ts'
import { invalidRequest } from '../../errors.ts'
import { type HasProperty, isResolvable } from './references.ts'

export function assertEnvSize(vars: readonly EnvVar[]): void {
  if (!isWithinTotal(vars)) throw invalidRequest('all variables together may have 512 KiB')
}

/** A key that is both set and unset is set. */
export function mergeVars(vars: readonly EnvVar[], { set = [], unset = [] }: ChangeEnv): EnvVar[] {
  const merged = new Map(vars.map(({ key, value }) => [key, value]))
  for (const key of unset) merged.delete(key)
  for (const { key, value } of set) merged.set(key, value)
  return [...merged].map(([key, value]) => ({ key, value }))
}

export function compareVars(
  before: readonly EnvVar[],
  after: readonly EnvVar[],
  has: HasProperty,
): EnvChanges {
  const old = new Map(before.map(({ key, value }) => [key, value]))
  const keysAfter = new Set(after.map(({ key }) => key))
  const keysOf = (vars: readonly EnvVar[]) => vars.map(({ key }) => key).sort()
  return {
    added: keysOf(after.filter(({ key }) => !old.has(key))),
    changed: keysOf(after.filter(({ key, value }) => old.has(key) && old.get(key) !== value)),
    removed: keysOf(before.filter(({ key }) => !keysAfter.has(key))),
    unresolved: keysOf(after.filter(({ value }) => !isResolvable(value, has))),
  }
}
