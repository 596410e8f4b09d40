// What the API asks of the references in a value: whether they lead somewhere, and to whom.
// Mind: a service that is there now may be gone when instances start; only then are they resolved.
import { type Reference, referencesIn, serviceProperties } from '../references.ts'

/** Whether each reference of a value leads somewhere. */
export function isResolvable(value: string, has: HasProperty): boolean {
  return referencesIn(value).every((one) => one !== null && leadsSomewhere(one, has))
}

/** Whether there is a service of that name, and it has that property: not each has a `url`. */
export type HasProperty = (name: string, property: string) => boolean

function leadsSomewhere({ noun, name, property }: Reference, has: HasProperty): boolean {
  return noun === 'service' && serviceProperties.some((known) => known === property) && has(name, property)
}

/** Whether a value refers to this service. */
export function refersToService(value: string, name: string): boolean {
  return referencesIn(value).some((one) => one?.noun === 'service' && one.name === name)
}
