// Checks references in env values. They are resolved when instances start, and may be broken by then.
import type { Storage } from '../../../storage/index.ts'
import { type ChangeEnv, type EnvChanges, type EnvVar, isWithinTotal } from '../../api/env.ts'
import {
  datastoreProperties,
  type Reference,
  referencesIn,
  serviceProperties,
} from '../../domain/env-references.ts'
import { Failure, type FailureDetail, invalidRequest } from '../../errors.ts'

export function isResolvable(value: string, has: HasProperty): boolean {
  return referencesIn(value).every((reference) => reference !== null && exists(reference, has))
}

/** Whether the object exists and has the property. Not every service has a `url`, for example. */
export type HasProperty = (noun: Reference['noun'], name: string, property: string) => boolean

function exists({ noun, name, property }: Reference, has: HasProperty): boolean {
  const properties: readonly string[] = noun === 'service' ? serviceProperties : datastoreProperties
  return properties.includes(property) && has(noun, name, property)
}

/** Throws `in_use` with the referring variables, except of the object itself and of deleted services. */
export function assertNotReferenced(
  storage: Storage,
  { noun, name }: Pick<Reference, 'noun' | 'name'>,
  hint: string,
): void {
  const refers = (value: string) =>
    referencesIn(value).some((reference) => reference?.noun === noun && reference.name === name)
  const staying = storage.services.list().filter(({ deleting }) => !deleting)
  const referrers = staying.flatMap((service): FailureDetail[] => {
    const vars = noun === 'service' && service.name === name ? [] : storage.env.get(service.id)
    return vars
      .filter(({ value }) => refers(value))
      .map(({ key }) => ({ path: `${service.name}.${key}`, code: 'reference', message: `refers to ${name}` }))
  })
  if (referrers.length === 0) return
  const names = [...new Set(referrers.map(({ path }) => path.split('.')[0]))].join(', ')
  throw new Failure('in_use', `${name} is in use by ${names}`, hint, referrers)
}

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

/** Keys only, because values are secret. */
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
