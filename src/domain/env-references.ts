// References in env values: `${{service.NAME.PROP}}` and `${{datastore.NAME.PROP}}` (decisions "Service").
// `$${{` is a literal. What the API promises of a value and what an instance gets follow one grammar.

export interface Reference {
  noun: 'service' | 'datastore'
  name: string
  property: string
}

/** What a service can be asked for; only one that is public has a `url`. */
export const serviceProperties = ['host', 'port', 'hostport', 'internalUrl', 'url'] as const
/** What a datastore can be asked for; Redis has no `database`. */
export const datastoreProperties = [
  ...(['connectionString', 'externalConnectionString', 'host', 'port'] as const),
  ...(['user', 'password', 'database'] as const),
] as const
export type DatastoreProperty = (typeof datastoreProperties)[number]

export type ServiceProperty = (typeof serviceProperties)[number]

/** Closed, or cut off: both are looked at, and both can be escaped. */
const pattern = /\$?\$\{\{(?:([^}]*)\}\})?/g
const parts = /^\s*(service|datastore)\.([a-z0-9-]+)\.([A-Za-z]+)\s*$/

/** Puts something in the place of each reference; it is null where it is not closed or not of that form. */
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
