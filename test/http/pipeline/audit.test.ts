// The audit log over HTTP: every change has an entry with its actor, subject and outcome, and never a value.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { AuditEntry } from '../../../src/api/audit.ts'
import { createAlikeEntries } from '../../../src/http/pipeline/alike-entries.ts'
import { isAudited } from '../../../src/http/pipeline/audit.ts'
import type { Route } from '../../../src/http/pipeline/route.ts'
import { routes } from '../../../src/http/pipeline/routes.ts'
import { actionOf, subjectPathOf } from '../../../src/http/records/audit-subject.ts'
import type { Storage } from '../../../storage/index.ts'
import { type AccountApi, startWithAccount } from '../../support/http/account.ts'
import { owner } from '../../support/http/session.ts'
import { eventually, instant } from '../../support/supervisor/supervision.ts'

async function start(t: TestContext) {
  const api = await startWithAccount(t)
  const read = async (query = '') =>
    (await api.call('GET', `/api/v1/audit?${query}`)).body as unknown as AuditEntry[]
  /** The newest, once it has its outcome. */
  const newest = (action?: string) =>
    eventually('the outcome', () => {
      const [entry] = api.storage.audit.page({ limit: 1, action }).records
      return entry?.finished_at ? entry : null
    })
  return { ...api, read, newest }
}

test('a change has an entry with who, from where, what, and the outcome', async (t) => {
  const { call, newest, storage } = await start(t)

  const headers = { 'user-agent': 'berth/1' }
  const created = await call('POST', '/api/v1/services', { body: { name: 'shop', instances: 2 }, headers })

  const { id } = storage.services.get('shop')!
  const entry = await newest()
  assert.deepEqual(
    { ...entry, id: 'aud', at: instant, finished_at: instant },
    {
      id: 'aud',
      at: instant,
      finished_at: instant,
      actor: { kind: 'token', id: 'server', name: 'server token' },
      address: '127.0.0.1',
      user_agent: 'berth/1',
      action: 'service.create',
      subject: { kind: 'service', id, name: 'shop' },
      service_id: id,
      service_name: 'shop',
      changed: ['name', 'instances'],
      created: null,
      status: 201,
      code: null,
      exit_code: null,
      count: 1,
      request_id: created.headers.get('x-request-id'),
    },
  )
})

test('it is stored before the handler can commit anything, and has no outcome until the end', async (t) => {
  const { call, context, read, newest } = await start(t)
  const seen: unknown[] = []
  const { insert } = context.storage.services
  context.storage.services.insert = (...args) => {
    const { records } = context.storage.audit.page({ limit: 1 })
    seen.push(records.map(({ action, finished_at }) => [action, finished_at]))
    return insert.apply(context.storage.services, args)
  }

  await call('POST', '/api/v1/services', { body: { name: 'shop', image: 'web:1' } })

  assert.deepEqual(seen, [[['service.create', null]]])
  assert.equal((await newest()).status, 201)
  assert.equal((await read()).filter(({ action }) => action === 'service.create').length, 1)
})

test('names of variables and settings are in the log, values nowhere', async (t) => {
  const { call, read, newest, browser } = await start(t)
  await call('POST', '/api/v1/services', { body: { name: 'shop', env: [{ key: 'A', value: 'canary-1' }] } })
  const set = [{ key: 'GREETING', value: 'canary-2' }]
  await call('PATCH', '/api/v1/services/shop/env', { body: { set, unset: ['A'] } })
  assert.deepEqual((await newest()).changed, ['set.GREETING', 'unset.A'])
  await call('PATCH', '/api/v1/services/shop', { body: { memory_limit_mb: 512 } })
  assert.deepEqual((await newest()).changed, ['memory_limit_mb'])
  const passwords = { current_password: owner.password, new_password: 'canary-3 is long enough' }
  assert.equal((await browser.call('POST', '/auth/password', passwords)).status, 204)
  await call('PUT', '/api/v1/registries/registry.test', { body: { username: 'ada', password: 'canary-4' } })
  await newest('registry')

  const text = JSON.stringify(await read())
  assert.doesNotMatch(text, /canary|horse/)
  assert.match(text, /"env.A"/)
})

test('a sign-in has the account as its actor, failed ones of a minute are one entry', async (t) => {
  const { call, read, newest, storage } = await start(t)
  assert.deepEqual((await newest('login')).actor, { kind: 'session', id: null, name: owner.email })

  for (let guess = 0; guess < 5; guess++) {
    const body = { email: owner.email, password: `wrong ${guess}` }
    await call('POST', '/api/v1/auth/login', { body, token: null })
  }
  const failed = await eventually('the count', () => {
    const [entry] = storage.audit.page({ limit: 1, actor: 'visitor' }).records
    return entry && entry.count >= 4 ? entry : null
  })
  const { action, code, status, subject, address } = failed
  assert.deepEqual(
    [action, code, status, subject.name, address],
    ['account.login', 'invalid_credentials', 401, owner.email, '127.0.0.1'],
  )
  assert.equal((await read('actor=visitor')).length, 1)
})

test('a storm of refusals of all kinds adds few entries', async (t) => {
  const { call, read } = await start(t)
  for (let count = 0; count < 200; count++) {
    await call('POST', `/api/v1/services/none-${count}/restart`, { token: `bth_wrong-${count}` })
    await call('POST', `/api/v1/services/none-${count}/scale`, { body: { instances: 'x' } })
  }

  const entries = await read('limit=500')
  const refused = entries.filter(({ status }) => status && status >= 400)
  assert.ok(refused.length < 80, `${refused.length} entries`)
  const old = refused.find(({ action }) => action === 'token.refused')!
  assert.ok(old.count >= 128, `${old.count} of 200 are counted`)
  const rest = refused.find(({ address }) => address === null)!
  assert.ok(rest.count > 64)
})

test('what a token repeats is one entry with a count, and one that fails is another', async (t) => {
  const { call, browser, storage } = await start(t)
  await call('POST', '/api/v1/services', { body: { name: 'shop', image: 'web:1' } })
  const { token } = (await browser.call('POST', '/auth/tokens', { name: 'ci', role: 'deploy' })).body
  const act = async (action: string) =>
    (await call('POST', `/api/v1/services/shop/${action}`, { token })).status

  const statuses: number[] = []
  for (let count = 0; count < 8; count++) statuses.push(await act('suspend'))
  assert.equal(statuses[0], 200)
  const entries = await eventually('the outcome', () => {
    const { records } = storage.audit.page({ limit: 100, actor: 'ci' })
    const counted = records.reduce((sum, { count, code }) => sum + (code === null ? count : 0), 0)
    return counted === 8 && records.every(({ finished_at }) => finished_at !== null) ? records : null
  })

  const found = entries.map(({ status, count }) => [status, count])
  assert.deepEqual(found.at(-1), [200, 8])
  assert.ok(
    found.slice(0, -1).every(([status]) => status! >= 400),
    JSON.stringify(found),
  )
})

test('a token that acts for a minute makes a bounded number of entries', async (t) => {
  const { storage } = await start(t)
  const written: AuditEntry[] = []
  const newEntry = () => storage.audit.newEntry()
  const alike = createAlikeEntries({ newEntry, write: async (entry) => void written.push(entry) })
  const actor = { kind: 'token', id: 'tok-1', name: 'ci' } as const
  const entryOf = (id: string, code: string | null) => ({
    ...storage.audit.newEntry(),
    actor,
    action: 'job.cancel',
    subject: { kind: 'job', id, name: null },
    code,
  })

  for (let count = 0; count < 2000; count++)
    for (const code of [null, 'conflict']) alike.add(entryOf(`job-${count}`, code))

  const ids = new Set(written.map(({ id }) => id))
  assert.ok(ids.size < 340, `${ids.size} entries`)
  assert.ok(written.every((entry) => entry.actor.id === 'tok-1'))
  alike.add({ ...entryOf('job-1', null), actor: { ...actor, id: 'tok-2' } })
  assert.deepEqual(written.at(-1)!.subject.id, 'job-1')
})

const conflict = { status: 409, code: 'conflict', finished_at: instant }
const success = { status: 202, finished_at: instant }

function alikeRestarts({ audit }: Storage) {
  const alike = createAlikeEntries(audit)
  return {
    /** Returns what adds the outcome. */
    begin() {
      const entry: AuditEntry = {
        ...audit.newEntry(),
        actor: { kind: 'token', id: 'tok-1', name: 'ci' },
        action: 'service.restart',
        subject: { kind: 'service', id: 'svc-1', name: 'shop' },
      }
      const shared = alike.add(entry)
      return (outcome: Partial<AuditEntry>) => alike.complete(shared, entry, outcome)
    },
    found: () =>
      audit.page({ limit: 10, actor: 'tok-1' }).records.map(({ status, count }) => [status, count]),
  }
}

test('the failure of a request does not hide the success of an alike one', async (t) => {
  const { storage } = await start(t)
  const { begin, found } = alikeRestarts(storage)

  const [alone] = [begin()]
  await alone(conflict)
  const [first, second] = [begin(), begin()]
  await first(conflict)
  await second(success)
  assert.deepEqual(found().sort(), [
    [202, 2],
    [409, 1],
    [409, 1],
  ])
})

test('alike requests that all fail leave no entry without an outcome', async (t) => {
  const { storage } = await start(t)
  const { begin, found } = alikeRestarts(storage)

  const [first, second] = [begin(), begin()]
  await first(conflict)
  await second(conflict)
  assert.deepEqual(found().sort(), [
    [409, 1],
    [409, 2],
  ])
})

test('what was refused names who tried, and what', async (t) => {
  const { call, newest, browser } = await start(t)
  await call('POST', '/api/v1/services', { body: { name: 'shop' } })
  const { token } = (await browser.call('POST', '/auth/tokens', { name: 'ci', role: 'read' })).body
  await call('DELETE', '/api/v1/services/shop', { token })

  const { actor, subject, status, code } = await newest('service.delete')
  assert.deepEqual([actor.kind, actor.name], ['token', 'ci'])
  assert.deepEqual([subject.name, status, code], ['shop', 403, 'insufficient_role'])
})

test('filters and pages find what was asked for', async (t) => {
  const { call, read, newest, browser } = await start(t)
  for (const name of ['shop', 'blog']) await call('POST', '/api/v1/services', { body: { name } })
  await browser.call('POST', '/services/shop/suspend')
  await call('POST', '/api/v1/services/blog/suspend')
  await newest()

  const actionsOf = async (query: string) => (await read(query)).map(({ action }) => action)
  assert.deepEqual(await actionsOf('subject=shop'), ['service.suspend', 'service.create'])
  assert.deepEqual(await actionsOf(`subject=shop&actor=${owner.email}`), ['service.suspend'])
  assert.equal((await actionsOf('action=suspend')).length, 2)
  assert.deepEqual(await actionsOf('since=2100-01-01T00:00:00Z'), [])
  assert.deepEqual(await actionsOf(`until=${instant}`), [])
  const all = await read()
  assert.deepEqual(await read(`since=${instant}&limit=500`), all)
  const first = await call('GET', '/api/v1/audit?limit=2')
  const next = /<([^>]+)>/.exec(first.headers.get('link')!)![1]!
  const second = (await call('GET', next)).body as unknown as AuditEntry[]
  assert.deepEqual([...(first.body as unknown as AuditEntry[]), ...second], all.slice(0, 4))
  const refused = await call('GET', '/api/v1/audit?since=yesterday')
  assert.equal(refused.status, 400)
})

const addressOf = ({ path }: Route) => path.replace(/\{\w+\}/g, 'none')

test('every route that changes something leaves an entry with a subject', async (t) => {
  const kinds = new Set<string>()
  const changing = routes.filter((one) => isAudited(one) && one.response !== 'socket')
  // Refusals have a rate.
  for (let at = 0; at < changing.length; at += 20) {
    const api = await startWithAccount(t)
    for (const route of changing.slice(at, at + 20)) {
      const { action, subject } = await entryFor(api, route)
      assert.ok(subject.kind, `${action} has no subject`)
      const { param } = subjectPathOf(route)
      if (param) assert.ok(subject.name ?? subject.id, `${action} has a subject without a name`)
      kinds.add(subject.kind)
    }
  }
  assert.ok(kinds.size > 10, [...kinds].join())
})

/** In its own browser, because some requests end their session. */
async function entryFor({ signedIn, call, storage }: AccountApi, route: Route): Promise<AuditEntry> {
  const wanted = actionOf(route, route.isPage ? 'none' : null)
  const browser = await signedIn()
  const [{ id: last } = { id: '' }] = storage.audit.page({ limit: 1 }).records
  const type = route.isPage ? { 'content-type': 'application/x-www-form-urlencoded' } : {}
  const headers = { 'sec-fetch-site': 'same-origin', cookie: browser.cookie, ...type }
  await call(route.method, addressOf(route), {
    token: null,
    headers,
    ...(route.method !== 'GET' && { body: route.isPage ? 'act=none' : '{}' }),
  })
  return eventually(`the entry of ${wanted}`, () => {
    const { records } = storage.audit.page({ limit: 50 })
    return records.find(({ id, action }) => id > last && action === wanted)
  })
}

test('actions are stable codes', () => {
  const codes = [
    ['POST', '/api/v1/services', 'service.create'],
    ['POST', '/api/v1/services/{id}/deploys/upload', 'service.deploy_upload'],
    ['PATCH', '/api/v1/services/{id}/env', 'service.change_env'],
    ['DELETE', '/api/v1/services/{id}/domains/{domain}', 'domain.delete'],
    ['POST', '/api/v1/deploys/{deploy_id}/cancel', 'deploy.cancel'],
    ['GET', '/api/v1/datastores/{id}/client', 'datastore.client'],
    ['GET', '/api/v1/services/{id}/shell', 'service.shell'],
    ['GET', '/api/v1/jobs/{job_id}/shell', 'job.shell'],
    ['GET', '/api/v1/services/{id}/files', 'service.file'],
    ['PUT', '/api/v1/disks/{name}/files', 'disk.set_file'],
    ['POST', '/api/v1/edge/upgrade', 'edge.upgrade'],
    ['POST', '/api/v1/auth/login', 'account.login'],
    ['DELETE', '/api/v1/auth/sessions', 'session.delete'],
    ['POST', '/api/v1/auth/cli/{id}/approve', 'terminal_login.approve'],
    ['POST', '/api/v1/git/connections', 'git_connection.create'],
    ['PUT', '/api/v1/registries/{host}', 'registry.set'],
  ] as const
  for (const [method, path, code] of codes) assert.equal(actionOf({ method, path }, null), code)
  assert.equal(actionOf({ method: 'POST', path: '/account' }, 'create-token'), 'account.create_token')
})
