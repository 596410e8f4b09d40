// Names of other services in the values of variables, as references: Berth resolves them, and lets the
// service connect.
import type { Draft } from './draft.ts'

const url = /^([a-z][\w+.]*):\/\/(?:([^:@/]*)(?::[^@/]*)?@)?([\w.-]+)(?::\d+)?(?:\/([^?]*))?(\?.*)?$/i
/** A key whose value is the name of a host, and not a word that a service happens to be called. */
const hostKeys = /HOST|ADDR|SERVER|ENDPOINT|URL|URI/i

/** Null for a value without a name of another service. */
export function withReferences(key: string, value: string, others: Draft[]): string | null {
  const [, scheme = '', user, host, path = '', query = ''] = url.exec(value) ?? []
  const datastore = others.find(({ hosts, kind }) => hosts.includes(host!) && kind !== 'service')
  if (datastore) return datastoreUrl(datastore, { scheme, user, path, query })
  const rewritten = others.reduce((text, other) => withHost(key, text, other), value)
  return rewritten === value ? null : rewritten
}

/** Whether a value has nothing but references, what joins them to an address, and a number of Redis. */
export function isOpen(value: string): boolean {
  return /^([a-z][\w+.]*:\/\/)?[:@]*(:\d+)?(\/\d{0,2})?$/i.test(value.replace(/\$\{\{[^{}]*\}\}/g, ''))
}

export function refer({ kind, name }: Draft, property: string): string {
  return `\${{${kind === 'service' ? 'service' : 'datastore'}.${name}.${property}}}`
}

export function isReferredTo({ kind, name }: Draft, values: string[]): boolean {
  const start = `\${{${kind === 'service' ? 'service' : 'datastore'}.${name}.`
  return values.some((value) => value.includes(start))
}

interface Parts {
  scheme: string
  user: string | undefined
  path: string
  query: string
}

/** Drivers that want a scheme of their own get the parts of the address. */
function datastoreUrl(draft: Draft, { scheme, user, path, query }: Parts): string {
  const { kind, login } = draft
  const isRedis = kind === 'redis'
  const isOwn =
    isRedis || ((!user || user === login.user?.value) && (!path || path === login.database?.value))
  if (isOwn && /^(postgres(ql)?|redis)$/.test(scheme)) {
    return `${refer(draft, 'connectionString')}${isRedis && path ? `/${path}` : ''}${query}`
  }
  const who = user === undefined ? '' : `${refer(draft, 'user')}:${refer(draft, 'password')}@`
  const database = !isRedis && path === login.database?.value ? refer(draft, 'database') : path
  return `${scheme}://${who}${refer(draft, 'host')}:${refer(draft, 'port')}/${database}${query}`
}

/** `//api:3000`, `@api/`, `api:3000`, and `api` alone for a key such as API_HOST. */
function withHost(key: string, value: string, draft: Draft): string {
  if (!draft.hosts.some((host) => value.includes(host))) return value
  if (draft.hosts.includes(value)) return hostKeys.test(key) ? refer(draft, 'host') : value
  const name = `(?:${draft.hosts.join('|').replaceAll('.', '\\.')})`
  const named = new RegExp(`(//|@)${name}(?=[:/,?]|$)|(^|,)${name}(?=:\\d+)`, 'g')
  return value.replace(named, (_, slashes = '', comma = '') => `${slashes}${comma}${refer(draft, 'host')}`)
}
