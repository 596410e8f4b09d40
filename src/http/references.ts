// What the API asks of the references in a value: whether they lead somewhere, and to whom.
// Mind: a service that is there now may be gone when instances start; only then are they resolved.
import { type Reference, referencesIn, serviceProperties } from '../references.ts'

/** Whether each reference of a value leads somewhere. */
export function isResolvable(value: string, hasService: (name: string) => boolean): boolean {
  return referencesIn(value).every((one) => one !== null && leadsSomewhere(one, hasService))
}

function leadsSomewhere({ noun, name, property }: Reference, hasService: (name: string) => boolean): boolean {
  return noun === 'service' && serviceProperties.some((known) => known === property) && hasService(name)
}

/** Whether a value refers to this service. */
export function refersToService(value: string, name: string): boolean {
  return referencesIn(value).some((one) => one?.noun === 'service' && one.name === name)
}
