// Who may call what: every route with every kind of credential, against a list written by hand. A new route
// below /api must be added to the list. Responses are distinguished only by whether the caller was
// admitted; other tests check the rest.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { isApiPath, type Route } from '../../src/http/pipeline/route.ts'
import { routes } from '../../src/http/pipeline/routes.ts'
import type { TokenRow } from '../../storage/access/hashed-tokens.ts'
import { type AccountApi, startWithAccount } from '../support/http/account.ts'
import { type Api, token as serverToken } from '../support/http/http-context.ts'
import { serviceRow, transitionOf } from '../support/storage/store-fixtures.ts'

/** Public, but not for pages from elsewhere. */
const guarded = ['setup', 'login', 'logout', 'cli'].map((way) => `POST /api/v1/auth/${way}`)

const lineOf = ({ method, path }: Route) => `${method} ${path}`

/** Pages are as their own definition says: they ask for the session themselves. */
function ruleOf(route: Route): { needed: RequiredCredentials; checksOrigin: boolean } {
  const line = lineOf(route)
  if (!isApiPath(route.path) && !requiredFor.has(line)) {
    assert.equal(route.credential, 'public', `${line} is outside of /api: only pages are`)
    return { needed: 'public', checksOrigin: route.checksOrigin ?? false }
  }
  const needed = requiredFor.get(line)
  assert.ok(needed, `${line} is a new route: say in this test who may call it`)
  // Every page may open a WebSocket to everybody.
  return { needed, checksOrigin: guarded.includes(line) || route.response === 'socket' }
}

const unauthorized = '401 unauthorized'
const crossSite = '403 cross_site_request'
const sessionOnly = '403 session_required'
const isAllowed = 'let in'
const tooLittle = '403 insufficient_role'
const roles = ['read', 'deploy', 'admin'] as const
type Role = (typeof roles)[number]

interface Shown {
  headers: Record<string, string>
  query?: string
}

interface Sort {
  /** Made for each request: some of them end the session they come with. */
  show(api: AccountApi): Promise<Shown>
  /** The request is about something that exists, and belongs to the service `svc-own`. */
  asksForOwn?: true
  expected(rule: { needed: RequiredCredentials; checksOrigin: boolean }, isWrite: boolean): string
}

/** Missing and invalid credentials. */
const refused: Sort['expected'] = ({ needed }) => (needed === 'public' ? isAllowed : unauthorized)

/** As a token of this role; `isOwn` says whether one that is limited to services asks for what is its own. */
function asToken(role: Role, isOwn: boolean | null = null): Sort['expected'] {
  return ({ needed }) => {
    if (needed === 'public') return isAllowed
    if (needed === 'session') return sessionOnly
    const [least, scope] = needed.split(' ') as [Role, string?]
    if (roles.indexOf(role) < roles.indexOf(least)) return tooLittle
    if (isOwn === null || scope === 'server' || scope === 'filtered') return isAllowed
    return isOwn && scope !== undefined ? isAllowed : tooLittle
  }
}
/** Browsers say where a request comes from. */
const fromElsewhere: Sort['expected'] = ({ needed, checksOrigin }) =>
  checksOrigin || needed !== 'public' ? crossSite : isAllowed
const asScript: Sort['expected'] = ({ needed, checksOrigin }, isWrite) =>
  checksOrigin || (needed !== 'public' && isWrite) ? crossSite : isAllowed

const bearer = (secret: string): Shown => ({ headers: { authorization: `Bearer ${secret}` } })
const ownPage = { 'sec-fetch-site': 'same-origin' }
let count = 0

/** A new token, of an admin without a limit or an end where nothing else is asked for. */
async function token({ storage }: AccountApi, input: Partial<TokenRow> = {}): Promise<string> {
  const [id, secret] = [storage.ids.newId('tok'), `bth_walk-${++count}`]
  const row = { id, name: 'walk', hint: 'walk', created_at: '2026-01-01T00:00:00.000Z', last_used_at: null }
  const full = { ...row, role: 'admin', services: null, expires_at: null, ...input } as const
  await storage.commit((commit) => storage.tokens.insert(commit, secret, full))
  return secret
}

/** A token that is limited to one service: the one that the request is about, or another one. */
function limited(role: Role, isOwn: boolean): Sort {
  return {
    asksForOwn: true,
    show: async (api) => bearer(await token(api, { role, services: [isOwn ? 'svc-own' : 'svc-other'] })),
    expected: asToken(role, isOwn),
  }
}

async function cookie({ storage, server }: AccountApi): Promise<{ cookie: string }> {
  const [id, secret, now] = [storage.ids.newId('ses'), `bths_walk-${++count}`, new Date().toISOString()]
  const row = { id, created_at: now, last_used_at: now, user_agent: null }
  await storage.commit((commit) => storage.sessions.insert(commit, secret, row))
  return { cookie: `svc_session_${server.port}=${secret}` }
}

const sorts: Record<string, Sort> = {
  nothing: { show: async () => ({ headers: {} }), expected: refused },
  'a wrong token': { show: async () => bearer('bth_wrong'), expected: refused },
  'a token': { show: async (api) => bearer(await token(api)), expected: asToken('admin') },
  'a deploy token': {
    show: async (api) => bearer(await token(api, { role: 'deploy' })),
    expected: asToken('deploy'),
  },
  'a read token': {
    show: async (api) => bearer(await token(api, { role: 'read' })),
    expected: asToken('read'),
  },
  'a deploy token of the service': limited('deploy', true),
  'a deploy token of another service': limited('deploy', false),
  'a read token of the service': limited('read', true),
  'a read token of another service': limited('read', false),
  'a session': {
    show: async (api) => ({ headers: { ...ownPage, ...(await cookie(api)) } }),
    expected: () => isAllowed,
  },
  'a session, from a page of another site': {
    show: async (api) => ({ headers: { 'sec-fetch-site': 'cross-site', ...(await cookie(api)) } }),
    expected: fromElsewhere,
  },
  'a session, in a script': { show: async (api) => ({ headers: await cookie(api) }), expected: asScript },
  'a token in the query': {
    show: async (api) => ({ headers: {}, query: `?access_token=${await token(api)}` }),
    expected: (rule, isWrite) => (isWrite ? refused : asToken('admin'))(rule, isWrite),
  },
  'a good token, with the Host of another': {
    show: async () => ({ headers: { host: 'evil.example', ...bearer(serverToken).headers } }),
    expected: () => 'foreign host',
  },
}

/** The refusal, if any; a stream is closed as soon as it opens. */
function ask(
  { url }: AccountApi,
  { method, path, response: answer }: Route,
  { headers, query = '' }: Shown,
  ids: Map<string, string>,
) {
  const filled = path.replace(
    /([\w-]+)\/\{\w+\}/g,
    (_, noun) => `${noun}/${ids.get(noun) ?? 'nothing-there'}`,
  )
  const address = `${url}${filled}${query}`
  return new Promise<string>((resolve, reject) => {
    const asking = request(address, { method, agent: false, headers }, (response) => {
      const { statusCode: status = 0 } = response
      if (answer === 'stream' && status === 200) {
        asking.destroy()
        resolve(isAllowed)
      } else text(response).then((body) => resolve(verdictOf(status, body)), reject)
    })
    asking.on('error', reject)
    asking.end()
  })
}

function verdictOf(status: number, body: string): string {
  if (body.includes('this server does not serve the host')) return status === 400 ? 'foreign host' : body
  if (status !== 401 && status !== 403) return isAllowed
  const code = /"code":"(\w+)"/.exec(body)?.[1] ?? body
  // The ways in have failures of their own, which are no refusals at the door.
  const isOwnFailure = [
    'invalid_credentials',
    'invalid_setup_code',
    'invalid_secret',
    'invalid_signature',
  ].includes(code)
  return isOwnFailure ? isAllowed : `${status} ${code}`
}

test('the list has every route below /api, and no others', () => {
  const known = routes.map(lineOf)

  for (const route of routes) ruleOf(route)
  assert.deepEqual(
    [...requiredFor.keys()].filter((line) => !known.includes(line)),
    [],
  )
})

for (const [name, { show, expected, asksForOwn }] of Object.entries(sorts)) {
  test(`with ${name} every route allows exactly the documented credentials`, async (t) => {
    const api = await startWithAccount(t)
    const ids = asksForOwn ? await createServiceRecords(api) : new Map<string, string>()
    const found: Record<string, string> = {}
    const wanted: Record<string, string> = {}

    for (const route of routes) {
      const line = lineOf(route)
      found[line] = await ask(api, route, await show(api), ids)
      wanted[line] = expected(ruleOf(route), route.method !== 'GET')
    }
    assert.ok(Object.keys(found).length > 40)
    assert.deepEqual(found, wanted)
  })
}

/** Ids by the path segment before the parameter, such as `deploys`. */
export async function createServiceRecords({ storage: { actors, services } }: Pick<Api, 'storage'>) {
  const records = {
    deploys: ['deploy', 'dep-1'],
    actors: ['deploy', 'dep-2'],
    jobs: ['job-run', 'job-1'],
    alerts: ['alert', 'alr-1'],
    certificates: ['certificate', 'crt-1'],
  }
  await services.create(serviceRow({ id: 'svc-own', name: 'own' }))
  const ids = new Map([['services', 'svc-own']])
  for (const [noun, [kind, id]] of Object.entries(records) as [string, [string, string]][]) {
    const transition = transitionOf({ id, kind, service_id: 'svc-own' })
    await actors.create({ ...transition, record: { ...transition.record, service_id: 'svc-own' } })
    ids.set(noun, id)
  }
  return ids
}

export type RequiredCredentials =
  | 'public'
  | 'session'
  | 'read server'
  | 'read filtered'
  | 'read service'
  | 'read record'
  | 'read'
  | 'deploy service'
  | 'deploy record'
  | 'admin'

const list: Record<RequiredCredentials, string[]> = {
  public: [
    'GET /healthz',
    'GET /api/v1/openapi.json',
    'GET /api/v1/auth/status',
    'POST /api/v1/auth/setup',
    'POST /api/v1/auth/login',
    'POST /api/v1/auth/logout',
    'POST /api/v1/auth/cli',
    'POST /api/v1/auth/cli/{id}/token',
    'POST /api/v1/hooks/github',
    'POST /api/v1/hooks/gitlab',
    'POST /api/v1/hooks/gitea',
    'POST /api/v1/hooks/deploy/{id}',
  ],
  session: [
    'POST /api/v1/server-backups',
    'GET /api/v1/server-backups/{id}/content',
    'DELETE /api/v1/server-backups/{id}',
    'POST /api/v1/auth/password',
    'GET /api/v1/auth/sessions',
    'DELETE /api/v1/auth/sessions',
    'DELETE /api/v1/auth/sessions/{id}',
    'GET /api/v1/auth/tokens',
    'POST /api/v1/auth/tokens',
    'DELETE /api/v1/auth/tokens/{id}',
    'GET /api/v1/auth/cli/{id}',
    'POST /api/v1/auth/cli/{id}/approve',
    'POST /api/v1/auth/cli/{id}/deny',
    'GET /api/v1/inspect',
    'POST /api/v1/server/activate',
  ],
  'read server': ['GET /api/v1/info', 'GET /api/v1/machines/{kind}'],
  'read filtered': [
    'GET /api/v1/events',
    'GET /api/v1/services',
    'GET /api/v1/certificates',
    'GET /api/v1/deploys',
    'GET /api/v1/jobs',
    'GET /api/v1/actors',
    'GET /api/v1/activity',
    'GET /api/v1/alerts',
    'GET /api/v1/alert-rules',
    'GET /api/v1/machines',
    'GET /api/v1/machines/{kind}/times',
  ],
  'read service': [
    'GET /api/v1/services/{id}',
    'GET /api/v1/services/{id}/recipe',
    'GET /api/v1/services/{id}/status',
    'GET /api/v1/services/{id}/logs',
    'GET /api/v1/services/{id}/domains',
    'GET /api/v1/services/{id}/env',
    'GET /api/v1/services/{id}/deploys',
    'GET /api/v1/services/{id}/phase-times',
    'GET /api/v1/services/{id}/jobs',
    'GET /api/v1/services/{id}/schedule',
    'GET /api/v1/services/{id}/schedule/history',
    'GET /api/v1/services/{id}/deliveries',
    'POST /api/v1/services/{id}/watch-paths/test',
    'GET /api/v1/services/{id}/deploy-key',
  ],
  'read record': [
    'GET /api/v1/alerts/{id}',
    'GET /api/v1/actors/{id}',
    'GET /api/v1/actors/{id}/history',
    'GET /api/v1/certificates/{id}/history',
    'GET /api/v1/certificates/{id}/why',
    'GET /api/v1/deploys/{deploy_id}',
    'GET /api/v1/deploys/{deploy_id}/logs',
    'GET /api/v1/deploys/{deploy_id}/history',
    'GET /api/v1/deploys/{deploy_id}/why',
    'GET /api/v1/deploys/{deploy_id}/diff',
    'GET /api/v1/jobs/{job_id}',
    'GET /api/v1/jobs/{job_id}/logs',
    'GET /api/v1/jobs/{job_id}/history',
    'GET /api/v1/jobs/{job_id}/why',
  ],
  read: [
    'GET /api/v1/server-backups',
    'GET /api/v1/server-backups/{id}',
    'GET /api/v1/server-backups/{id}/history',
    'GET /api/v1/notification-channels',
    'GET /api/v1/notification-channels/{id}',
    'GET /api/v1/notification-deliveries',
    'GET /api/v1/notification-deliveries/{id}',
    'GET /api/v1/notification-deliveries/{id}/history',
    'GET /metrics',
    'GET /api/v1/certificate-authority',
    'GET /api/v1/git/connections',
    'GET /api/v1/git/connections/{id}',
    'GET /api/v1/git/connections/{id}/history',
    'GET /api/v1/backup-places',
    'GET /api/v1/backup-places/{name}',
    'GET /api/v1/registries',
    'GET /api/v1/registries/{host}',
    'GET /api/v1/datastores',
    'GET /api/v1/datastores/{id}',
    'GET /api/v1/datastores/{id}/history',
    'GET /api/v1/datastores/{id}/upgrade',
    'GET /api/v1/datastores/{id}/why',
    'GET /api/v1/datastores/{id}/restores',
    'GET /api/v1/backups',
    'GET /api/v1/backups/{id}',
    'GET /api/v1/backups/{id}/history',
    'GET /api/v1/backups/{id}/why',
    'GET /api/v1/restores/{id}',
    'GET /api/v1/restores/{id}/history',
    'GET /api/v1/restores/{id}/why',
    'GET /api/v1/disks',
    'GET /api/v1/disks/{name}/chown',
    'GET /api/v1/disks/{name}/chown/history',
    'GET /api/v1/disks/{name}/restores',
    'GET /api/v1/trash',
    'GET /api/v1/edge',
    'GET /api/v1/edge/history',
  ],
  'deploy service': [
    'POST /api/v1/services/{id}/deliveries/{delivery_id}/redeliver',
    'POST /api/v1/services/{id}/restart',
    'POST /api/v1/services/{id}/suspend',
    'POST /api/v1/services/{id}/resume',
    'POST /api/v1/services/{id}/scale',
    'POST /api/v1/services/{id}/rollback',
    'POST /api/v1/services/{id}/deploys',
    'POST /api/v1/services/{id}/deploys/upload',
    'POST /api/v1/services/{id}/jobs',
  ],
  'deploy record': [
    'POST /api/v1/alerts/{id}/acknowledge',
    'POST /api/v1/deploys/{deploy_id}/cancel',
    'POST /api/v1/jobs/{job_id}/cancel',
  ],
  admin: [
    'GET /api/v1/git/connections/{id}/hook',
    'GET /api/v1/git/connections/{id}/deliveries',
    'GET /api/v1/git/deliveries/{delivery_id}',
    'POST /api/v1/services/{id}/deploy-key',
    'DELETE /api/v1/services/{id}/deploy-key',
    'DELETE /api/v1/services/{id}/deploy-key/hosts',
    'GET /api/v1/services/{id}/deploy-hook',
    'POST /api/v1/services/{id}/deploy-hook/rotate',
    'GET /api/v1/doctor',
    'POST /api/v1/notification-channels',
    'PATCH /api/v1/notification-channels/{id}',
    'DELETE /api/v1/notification-channels/{id}',
    'POST /api/v1/notification-channels/{id}/test',
    'POST /api/v1/notification-deliveries/{id}/redeliver',
    'GET /api/v1/audit',
    'POST /api/v1/services',
    'PATCH /api/v1/services/{id}',
    'DELETE /api/v1/services/{id}',
    'POST /api/v1/services/{id}/domains',
    'DELETE /api/v1/services/{id}/domains/{domain}',
    'POST /api/v1/certificates/{id}/retry',
    'PUT /api/v1/services/{id}/env',
    'PATCH /api/v1/services/{id}/env',
    'POST /api/v1/git/authorize',
    'POST /api/v1/git/callback',
    'POST /api/v1/git/connections',
    'PATCH /api/v1/git/connections/{id}',
    'DELETE /api/v1/git/connections/{id}',
    'GET /api/v1/git/connections/{id}/repositories',
    'GET /api/v1/git/branches',
    'PUT /api/v1/backup-places/{name}',
    'POST /api/v1/backup-places/{name}/test',
    'POST /api/v1/backup-places/{name}/default',
    'DELETE /api/v1/backup-places/{name}',
    'PUT /api/v1/registries/{host}',
    'DELETE /api/v1/registries/{host}',
    'POST /api/v1/datastores',
    'PATCH /api/v1/datastores/{id}',
    'DELETE /api/v1/datastores/{id}',
    'POST /api/v1/datastores/{id}/restart',
    'POST /api/v1/datastores/{id}/upgrade',
    'POST /api/v1/datastores/{id}/upgrade/cancel',
    'GET /api/v1/datastores/{id}/client',
    'GET /api/v1/jobs/{job_id}/input',
    'GET /api/v1/jobs/{job_id}/shell',
    'GET /api/v1/services/{id}/shell',
    'GET /api/v1/services/{id}/files',
    'PUT /api/v1/services/{id}/files',
    'GET /api/v1/services/{id}/files/facts',
    'GET /api/v1/disks/{name}/files',
    'PUT /api/v1/disks/{name}/files',
    'GET /api/v1/disks/{name}/files/facts',
    'POST /api/v1/datastores/{id}/backups',
    'POST /api/v1/datastores/{id}/restores',
    'POST /api/v1/datastores/{id}/restores/upload',
    'DELETE /api/v1/backups/{id}',
    'GET /api/v1/backups/{id}/content',
    'POST /api/v1/restores/{id}/cancel',
    'POST /api/v1/edge/upgrade',
    'POST /api/v1/edge/retry',
    'PATCH /api/v1/alert-rules/{code}',
    'POST /api/v1/actors/{id}/retry',
    'POST /api/v1/actors/{id}/discard',
    'DELETE /api/v1/disks/{name}',
    'POST /api/v1/disks/{name}/backups',
    'POST /api/v1/disks/{name}/chown',
    'POST /api/v1/disks/{name}/restores',
    'POST /api/v1/disks/{name}/restores/upload',
    'POST /api/v1/trash/{id}/restore',
    'DELETE /api/v1/trash/{id}',
  ],
}

/** By `METHOD /path`. */
export const requiredFor = new Map(
  Object.entries(list).flatMap(([needed, lines]) =>
    lines.map((line) => [line, needed as RequiredCredentials] as const),
  ),
)
