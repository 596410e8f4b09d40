// References in env values: `${{service.NAME.PROP}}` and `${{datastore.NAME.PROP}}` (decisions "Service").
// Mind: `$${{` is a literal; what a reference means is resolved when instances start, not here.

export interface Reference {
  noun: string
  name: string
  property: string
}

const serviceProperties = new Set(['host', 'port', 'hostport', 'url', 'internalUrl'])

/** Every reference in a value; null for one that is not closed or not of that form. */
export function referencesIn(value: string): (Reference | null)[] {
  const found: (Reference | null)[] = []
  for (const match of value.matchAll(/(\$?)\$\{\{(?:([^}]*)\}\})?/g)) {
    const [, dollar, inner] = match
    if (dollar === '') found.push(parseReference(inner))
  }
  return found
}

function parseReference(inner: string | undefined): Reference | null {
  const parts = inner?.trim().split('.') ?? []
  const [noun, name, property] = parts
  return parts.length === 3 && noun && name && property ? { noun, name, property } : null
}

/** Whether each reference of a value leads somewhere. */
export function isResolvable(value: string, hasService: (name: string) => boolean): boolean {
  return referencesIn(value).every(
    (one) => one?.noun === 'service' && serviceProperties.has(one.property) && hasService(one.name),
  )
}

/** Whether a value refers to this service. */
export function refersToService(value: string, name: string): boolean {
  return referencesIn(value).some((one) => one?.noun === 'service' && one.name === name)
}
