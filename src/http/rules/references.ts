// Checks the references in an env value: whether they can be resolved, and to what. They are resolved only
// when instances start; an object may be deleted before.

import {
  datastoreProperties,
  type Reference,
  referencesIn,
  serviceProperties,
} from '../../domain/env-references.ts'
import { Failure, type FailureDetail } from '../../errors.ts'
import type { HttpStorage } from '../pipeline/context.ts'

/** Whether all references of a value can be resolved. */
export function isResolvable(value: string, has: HasProperty): boolean {
  return referencesIn(value).every((one) => one !== null && exists(one, has))
}

/** Whether there is such a thing of that name, and it has that property: not each service has a `url`. */
export type HasProperty = (noun: Reference['noun'], name: string, property: string) => boolean

function exists({ noun, name, property }: Reference, has: HasProperty): boolean {
  const properties: readonly string[] = noun === 'service' ? serviceProperties : datastoreProperties
  return properties.includes(property) && has(noun, name, property)
}

/**
 * Throws `in_use`, naming which variables of which services refer to it; a reference of a service to itself
 * does not count, nor does a service that is being deleted.
 */
export function assertNotReferenced(
  storage: HttpStorage,
  { noun, name }: Pick<Reference, 'noun' | 'name'>,
  hint: string,
): void {
  const refers = (value: string) => referencesIn(value).some((one) => one?.noun === noun && one.name === name)
  const staying = storage.services.list().filter(({ deleting }) => !deleting)
  const referrers = staying.flatMap((service): FailureDetail[] => {
    const vars = noun === 'service' && service.name === name ? [] : (storage.env.getOrNull(service.id) ?? [])
    return vars
      .filter(({ value }) => refers(value))
      .map(({ key }) => ({
        path: `${service.name}.${key}`,
        code: 'reference',
        message: `refers to ${name}`,
      }))
  })
  if (referrers.length === 0) return
  const names = [...new Set(referrers.map(({ path }) => path.split('.')[0]))].join(', ')
  throw new Failure('in_use', `${name} is in use by ${names}`, hint, referrers)
}
