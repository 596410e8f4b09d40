// References in env values: `${{service.NAME.PROP}}`, `${{datastore.NAME.PROP}}`. `$${{` is a literal.

export interface Reference {
  noun: 'service' | 'datastore'
  name: string
  property: string
}

/** Properties of a service; only a public one has a `url`. */
export const serviceProperties = ['host', 'port', 'hostport', 'internalUrl', 'url'] as const
/** Properties of a datastore; Redis has no `database`. */
export const datastoreProperties = [
  ...(['connectionString', 'externalConnectionString', 'host', 'port'] as const),
  ...(['user', 'password', 'database'] as const),
] as const
export type DatastoreProperty = (typeof datastoreProperties)[number]

export type ServiceProperty = (typeof serviceProperties)[number]

/** Closed and unclosed references, also escaped ones. A `$` inside ends the attempt, for linear time. */
const pattern = /\$?\$\{\{(?:([^}$]*)\}\})?/g
const parts = /^\s*(service|datastore)\.([a-z0-9-]+)\.([A-Za-z]+)\s*$/

/** Replaces each reference. `reference` is null for an unclosed or malformed one. */
export function replaceReferences(
  value: string,
  replace: (reference: Reference | null, text: string) => string,
): string {
  return value.replace(pattern, (text, inner: string | undefined) =>
    text.startsWith('$$') ? text.slice(1) : replace(parseReference(inner ?? ''), text),
  )
}

export function referencesIn(value: string): (Reference | null)[] {
  const found: (Reference | null)[] = []
  replaceReferences(value, (reference, text) => {
    found.push(reference)
    return text
  })
  return found
}

function parseReference(inner: string): Reference | null {
  const [, noun, name, property] = parts.exec(inner) ?? []
  return noun && name && property ? { noun: noun as Reference['noun'], name, property } : null
}
