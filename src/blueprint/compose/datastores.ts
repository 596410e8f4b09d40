// Databases of a Compose file that become datastores.
import type { ComposeText, Remark } from './compose-text.ts'
import type { Draft } from './draft.ts'

const official =
  /^(?:docker\.io\/|[\w.-]+\/docker\/)?(?:library\/)?(postgres|redis)(?::v?(\d+(?:\.\d+)*))?(?=[-@]|$|:)/
const valkey = /(?:^|\/)valkey\/valkey(?=[:@]|$)/

interface Kind extends Pick<Draft, 'kind'> {
  version?: string | undefined
}

export function kindOf({ build, image }: Record<string, unknown>): Kind {
  const text = build === undefined ? String(image ?? '') : ''
  if (valkey.test(text)) return { kind: 'redis' }
  const [, kind, version] = official.exec(text) ?? []
  if (kind === 'postgres') return { kind, version: version?.split('.')[0] }
  return kind === 'redis' ? { kind, version } : { kind: 'service' }
}

interface Context {
  service: Record<string, unknown>
  version: string | undefined
  compose: ComposeText
  remark: Remark
}

/** With what it has as a service: variables and limits. */
export function becomeDatastore(draft: Draft, { service, version, compose, remark }: Context): void {
  const { original, kind, env, fields } = draft
  const at = ['services', original]
  const given = (key: string) => (env.get(key)?.value ? env.get(key) : undefined)
  const user = given('POSTGRES_USER') ?? { value: 'postgres', source: null }
  const database = given('POSTGRES_DB') ?? user
  const password = env.get('POSTGRES_PASSWORD') ?? env.get('REDIS_PASSWORD')
  const required = password ?? requiredPassword(service.command, [...at, 'command'], compose)
  draft.login = {
    ...(kind === 'postgres' ? { user, database } : {}),
    ...(required ? { password: required } : {}),
  }
  const names = kind === 'postgres' ? { username: user.value, database: database.value } : {}
  draft.fields = { kind, version, ...names, ...fields }
  if (valkey.test(String(service.image))) remark([...at, 'image'], 'it becomes a Redis, of the usual version')
  const isGiven = (key: string) => JSON.stringify(service.environment ?? '').includes(key)
  for (const [key, variable] of env) {
    if (/^POSTGRES_(USER|DB)$/.test(key) || !(isGiven(key) || /^(POSTGRES_|PGDATA|REDIS_PASSWORD)/.test(key)))
      continue
    const reason =
      variable === password ? 'Berth makes a new password: refer to it' : 'a datastore has no variables'
    remark([...at, 'environment', key], reason)
  }
}

const url = /^postgres[\w+]*:\/\/(?:[^@/]*@)?([\w.-]+)(?::\d+)?\/([\w-]+)(?:\?|$)/

/** Without a database of its own, a Postgres gets the one that all addresses of it name: an app makes it. */
export function nameDatabases(drafts: Draft[]): void {
  const addresses = drafts.flatMap(({ env }) =>
    [...env.values()].flatMap(({ value }) => [url.exec(value) ?? []]),
  )
  for (const { kind, hosts, env, login, fields } of drafts) {
    if (kind !== 'postgres' || env.get('POSTGRES_DB')?.value) continue
    const names = new Set(addresses.filter(([, host]) => hosts.includes(host!)).map(([, , name]) => name!))
    const [name] = names
    if (name === undefined || names.size > 1) continue
    login.database = { value: name, source: null }
    fields.database = name
  }
}

/** Of `redis-server --requirepass ${REDIS_PASSWORD}`. */
function requiredPassword(
  command: unknown,
  path: string[],
  compose: ComposeText,
): Draft['login']['password'] | null {
  const isList = Array.isArray(command)
  const words = isList ? command.map(String) : String(command ?? '').split(/\s+/)
  const at = words.indexOf('--requirepass') + 1
  if (at === 0 || words[at] === undefined) return null
  const raw = isList ? compose.rawAt([...path, at]) : compose.rawAt(path)?.split(/\s+/)[at]
  const source = compose.variableIn((raw ?? '').replace(/["']/g, ''))
  return { value: words[at].replace(/["']/g, ''), source }
}
