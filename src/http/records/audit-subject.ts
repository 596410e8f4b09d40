// What a request is about, for the audit log: derived from the path of its route, so that every route has it.
import type { AuditEntry } from '../../../storage/audit.ts'
import type { Storage } from '../../../storage/index.ts'
import type { HttpContext } from '../pipeline/context.ts'
import type { Route } from '../pipeline/route.ts'
import { printable } from './requester.ts'

type About = Pick<AuditEntry, 'subject' | 'service_id' | 'service_name'>

/** The kinds of paths whose last noun is not the plural of theirs. */
const kinds: Record<string, string> = {
  ...Object.fromEntries(['account', 'login', 'logout', 'password', 'setup'].map((path) => [path, 'account'])),
  cli: 'terminal_login',
  'cli-login': 'terminal_login',
  connections: 'git_connection',
  git: 'git_connection',
  registries: 'registry',
}
const kindsOfIds: Record<string, string> = { cli: 'terminal_login', ses: 'session', tok: 'token' }

interface PathParts {
  kind: string
  /** The name of the last value in the path; null for a path without values. */
  param: string | null
  /** What follows it. */
  verbs: string[]
}

/** `/api/v1/services/{id}/deploys/upload`: a service, the value of `id`, and `deploys`, `upload`. */
export function subjectPathOf({ path }: Pick<Route, 'path'>): PathParts {
  const parts = path
    .replace(/^\/api\/v1/, '')
    .split('/')
    .filter((part) => part !== '' && part !== 'auth')
  const value = parts.findLastIndex((part) => part.startsWith('{'))
  if (value > 0) {
    const kind = kindOf(parts[value - 1]!)
    return { kind, param: parts[value]!.slice(1, -1), verbs: parts.slice(value + 1) }
  }
  const [first = 'server', ...verbs] = parts
  const last = parts.at(-1)!
  if (last.endsWith('s')) return { kind: kindOf(last), param: null, verbs: [] }
  const kind = kindOf(first)
  return { kind, param: null, verbs: kind === 'account' && first !== kind ? [first] : verbs }
}

function kindOf(noun: string): string {
  return kinds[noun] ?? singular(noun)
}

function singular(noun: string): string {
  return noun.replace(/s$/, '')
}

const methodVerbs: Record<string, string> = { POST: 'create', PUT: 'set', PATCH: 'change', DELETE: 'delete' }

/** `service.deploy_upload`, `service.change_env`, `token.create`. A form says itself what it does. */
export function actionOf(route: Pick<Route, 'method' | 'path'>, act: string | null): string {
  const { kind, verbs } = subjectPathOf(route)
  const method = methodVerbs[route.method] ?? ''
  const words = verbs.map(singular).join('_')
  const isPlain = route.method === 'POST' || route.method === 'GET'
  const verb = words === '' ? method : isPlain ? words : `${method}_${words}`
  return `${kind}.${act !== null && /^[a-z-]{1,30}$/.test(act) ? act.replaceAll('-', '_') : verb}`
}

interface Sent {
  /** By the names in the path. */
  params: Record<string, string>
  body: unknown
  /** Forms have the id in their fields or in the address of their page. */
  formId: string | null
}

export function aboutOf(context: HttpContext, route: Route, { params, body, formId }: Sent): About {
  const { kind, param } = subjectPathOf(route)
  const owner = ownerOf(context.storage, route.path, params)
  if (formId !== null) return about(context, kindsOfIds[formId.slice(0, 3)] ?? kind, formId, owner)
  if (param !== null) return about(context, kind, params[param] ?? '', owner)
  const { id = null, email = null } = kind === 'account' ? (context.administrator.get() ?? {}) : {}
  const named = (body as { name?: unknown } | null | undefined)?.name
  const name = email ?? (typeof named === 'string' ? printable(named) : null)
  return { subject: { kind, id, name }, ...owner }
}

type Owner = Omit<About, 'subject'>

function ownerOf({ services, datastores }: Storage, path: string, params: Sent['params']): Owner {
  const value = params.id ?? ''
  if (path.includes('/services/{id}')) {
    const row = services.get(value)
    return { service_id: row?.id ?? null, service_name: row?.name ?? null }
  }
  const id = path.includes('/datastores/{id}') ? datastores.idOf(value) : null
  return { service_id: id, service_name: id && datastores.nameOf(id) }
}

function about({ storage }: HttpContext, kind: string, value: string, owner: Owner): About {
  if (kind === 'service' || kind === 'datastore') {
    const { service_id: id, service_name: name } = owner
    return { subject: { kind, id, name: name ?? printable(value) }, ...owner }
  }
  const token = kind === 'token' ? storage.tokens.byId(value) : null
  if (token) return { subject: { kind, id: value, name: printable(token.name) }, ...owner }
  const record = storage.actors.record(value) as Record<string, unknown> | null
  if (!record) {
    const isSession = kind === 'session' && storage.sessions.byId(value) !== null
    return {
      subject: { kind, id: isSession ? value : null, name: isSession ? null : printable(value) },
      ...owner,
    }
  }
  const ownerId = [record.service_id, record.datastore_id].find((id) => typeof id === 'string') as string
  const name = typeof record.name === 'string' ? printable(record.name) : null
  const owned = ownerId ? { service_id: ownerId, service_name: storage.nameOf(ownerId) } : owner
  return { subject: { kind, id: value, name }, ...owned }
}
