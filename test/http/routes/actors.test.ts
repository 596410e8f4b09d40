// Actors over HTTP: parked ones are listed, retried and discarded; health, metrics and status tell of them.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { catalogue } from '../../../machines/index.ts'
import { actorKinds } from '../../../src/api/actor.ts'
import { Supervisor } from '../../../src/supervisor/supervisor.ts'
import { startChecked } from '../../support/http/checked-api.ts'
import { endlessEffects, restingActors } from '../../support/storage/parked-kinds.ts'
import { serviceRow, transitionOf } from '../../support/storage/store-fixtures.ts'
import { instant as at, silentLogger } from '../../support/supervisor/supervision.ts'

const resting = restingActors()
const kinds = Object.keys(catalogue)
const one = (kind: string, state?: string) =>
  resting.find((actor) => actor.kind === kind && (state === undefined || actor.state === state))!

async function start(t: TestContext) {
  const api = await startChecked(t)
  const supervisor = new Supervisor({ storage: api.storage, catalogue, logger: silentLogger })
  supervisor.provide(endlessEffects())
  t.after(() => supervisor.stop(1000))
  api.context.actors = supervisor as never
  await api.storage.services.create(serviceRow())
  async function park({ id, transition }: (typeof resting)[number], reason = 'a bug') {
    await api.storage.actors.create(transition)
    await api.storage.actors.park(id, reason, at)
    return id
  }
  return { ...api, supervisor, park }
}

test('the schema lists every kind', () => {
  assert.deepEqual([...actorKinds], kinds)
})

test('parked actors of every kind are listed, retried once, and then active', async (t) => {
  const { call, park } = await start(t)
  for (const kind of kinds) await park(one(kind))
  const parked = (await call('GET', '/actors?parked=true')).body as unknown as Record<string, object>[]
  assert.deepEqual(parked.map(({ kind }) => String(kind)).sort(), kinds)

  for (const { id } of parked) {
    const first = await call('POST', `/actors/${id}/retry`)
    const second = await call('POST', `/actors/${id}/retry`)
    assert.deepEqual([first.status, first.body.parked], [202, null], String(id))
    assert.deepEqual([second.status, second.body.code], [409, 'not_parked'], String(id))
  }

  assert.deepEqual((await call('GET', '/actors?parked=true')).body, [])
  const all = (await call('GET', '/actors')).body as unknown as { kind: string }[]
  assert.deepEqual(all.map(({ kind }) => kind).sort(), kinds)
})

test('discarding a parked actor of every kind lists what it leaves behind, and is final', async (t) => {
  const { call, context, park, storage } = await start(t)
  const left = [{ type: 'container' as const, name: 'berth-shop-0' }]
  context.observe.leftBehind = async () => left
  for (const kind of kinds) await park(one(kind))

  for (const { id, kind } of kinds.map((each) => one(each))) {
    const { status, body } = await call('POST', `/actors/${id}/discard`)
    assert.deepEqual([status, body.status, body.left_behind], [200, 'discarded', left], kind)
    assert.equal((await call('POST', `/actors/${id}/discard`)).body.code, 'not_parked', kind)
    assert.equal((await call('POST', `/actors/${id}/retry`)).status, kind === 'edge' ? 202 : 409, kind)
    assert.equal(
      storage.actors.history(id).some(({ event }) => event === 'discarded'),
      true,
    )
  }
})

test('a repeated request gets the first response, and changes nothing', async (t) => {
  const { call, park } = await start(t)
  const deploy = await park(one('deploy', 'queued'))
  const backup = await park(one('backup'))
  const headers = { 'idempotency-key': 'once' }
  const retried = [await call('POST', `/actors/${deploy}/retry`, undefined, { headers })]
  retried.push(await call('POST', `/actors/${deploy}/retry`, undefined, { headers }))
  const discarded = [await call('POST', `/actors/${backup}/discard`, undefined, { headers })]
  discarded.push(await call('POST', `/actors/${backup}/discard`, undefined, { headers }))
  for (const [first, second] of [retried, discarded]) {
    assert.deepEqual([second?.status, second?.body], [first?.status, first?.body])
    assert.equal(second?.headers.get('idempotency-replayed'), 'true')
  }
})

test('an engine that does not respond refuses the discard, and the actor stays parked', async (t) => {
  const { call, context, park, storage } = await start(t)
  const id = await park(one('job-run'))
  context.observe.leftBehind = () =>
    Promise.reject(Object.assign(new Error('away'), { code: 'docker_unavailable' }))
  assert.equal((await call('POST', `/actors/${id}/discard`)).status, 503)
  assert.equal(storage.actors.parkedOf(id)?.id, id)
})

test('a parked edge matches its schema, and resumes by its own route', async (t) => {
  const { call, park } = await start(t)
  await park(one('edge', 'serving'))
  const parked = (await call('GET', '/edge')).body
  assert.deepEqual([parked.status, parked.error], ['failed', 'internal: a bug'])

  const retried = await call('POST', '/edge/retry')

  assert.deepEqual([retried.status, retried.body.status], [202, 'serving'])
  assert.equal((await call('POST', '/edge/retry')).body.code, 'not_parked')
})

test('plain health stays ok; verbose health names codes, and metrics count by kind', async (t) => {
  const api = await start(t)
  const text = async (path: string) => (await fetch(`${api.url}${path}`)).text()
  assert.deepEqual([await text('/healthz'), await text('/healthz?verbose')], ['ok', 'ok'])
  await api.park(one('edge', 'serving'), 'a secret reason')

  assert.equal(await text('/healthz'), 'ok')
  assert.equal(await text('/healthz?verbose'), 'degraded\nactors_parked\nedge_unavailable')
  assert.equal(await text('/healthz?verbose=false&other=1'), 'ok')
  const metrics = await text('/metrics?access_token=bth_test')
  assert.match(metrics, /^berth_parked_actors\{kind="edge"\} 1$/m)
  assert.match(metrics, /^berth_parked_actors\{kind="deploy"\} 0$/m)
})

test('verbose health names suspects as long as they have not ended', async (t) => {
  const { storage, supervisor, url } = await start(t)
  const { id, transition } = resting.find(({ kind, state }) => kind === 'deploy' && state !== 'queued')!
  await storage.actors.create(transition)
  await storage.foreignReads.begin(id, 'buildImage')
  await supervisor.restore({ id: 'end', reason: 'event_loop_blocked' })

  assert.equal(await (await fetch(`${url}/healthz?verbose`)).text(), 'degraded\nactors_suspected')
})

test('a service whose live deploy is parked is degraded, with the reason', async (t) => {
  const { call, park, storage } = await start(t)
  const id = await park(one('deploy', 'live'))
  await storage.services.update('svc-1', (row) => ({ ...row, live_deploy_id: id, degraded: true }))

  const { body } = await call('GET', '/services/shop/status')

  assert.match(String(body.reason), /^the deploy dep-1 is parked: a bug; berth retry dep-1$/)
})

test('discarding an approved terminal login revokes the token that it created', async (t) => {
  const { call, park, storage } = await start(t)
  const id = await park(one('terminal-login'))
  const grant = { role: 'admin' as const, services: null, expires_at: null, hint: 'hint' }
  const row = {
    id: id.replace('cli-', 'tok-'),
    name: 'a terminal',
    created_at: at,
    last_used_at: at,
    ...grant,
  }
  await storage.commit((commit) => storage.tokens.insert(commit, 'bth_made', row))
  assert.equal((await call('POST', `/actors/${id}/discard`)).status, 200)
  assert.equal(storage.tokens.bySecret('bth_made'), null)
})

test('an actor shows its state, what it accepts and what it does next, but no context', async (t) => {
  const { call, park, storage } = await start(t)
  const certificate = one('certificate', 'waiting')
  await storage.actors.create(certificate.transition)
  const deploy = await park(one('deploy', 'running.building'))

  const waiting = (await call('GET', `/actors/${certificate.id}`)).body
  const { parked, ...stuck } = (await call('GET', `/actors/${deploy}`)).body

  const { version, current_version, ...shown } = waiting
  assert.equal(version, current_version)
  assert.deepEqual(shown, {
    id: certificate.id,
    kind: 'certificate',
    service_id: 'svc-1',
    service_name: 'shop',
    status: 'valid',
    state: 'waiting',
    revision: 1,
    restarts: 0,
    since: at,
    next_at: '2099-01-01T00:00:00.000Z',
    parked: null,
    accepts: ['retry'],
  })
  assert.deepEqual([stuck.state, stuck.status, stuck.accepts], ['running.building', 'failed', []])
  assert.equal((parked as { code: string }).code, 'failed_repeatedly')
  assert.deepEqual((await call('GET', '/actors/dep-none')).body.code, 'not_found')
})

test('the list is parked, active, then ended actors, by kind and newest first, in pages', async (t) => {
  const { call, park, storage } = await start(t)
  await park(one('job-run'))
  for (const id of ['dep-2', 'dep-3', 'dep-4', 'dep-5']) {
    const final = id > 'dep-3'
    await storage.actors.create(transitionOf({ id, final }, { status: final ? 'failed' : 'live' }))
  }
  await storage.actors.create(transitionOf({ id: 'bak-2', kind: 'backup', service_id: 'dst-1' }))
  const read = async (query: string) => {
    const { body, headers } = await call('GET', `/actors?${query}`)
    const next = /[?&](before=[^&>]+)/.exec(headers.get('link') ?? '')?.[1]
    return { ids: (body as unknown as { id: string }[]).map(({ id }) => id), next }
  }

  const everything = ['job-1', 'bak-2', 'dep-3', 'dep-2', 'dep-5', 'dep-4']
  assert.deepEqual((await read('active=false')).ids, everything)
  assert.deepEqual((await read('')).ids, everything.slice(0, 4))
  const seen: string[] = []
  for (let next: string | undefined = ''; next !== undefined; ) {
    const page: { ids: string[]; next: string | undefined } = await read(`active=false&limit=1&${next}`)
    seen.push(...page.ids)
    next = page.next
  }
  assert.deepEqual(seen, everything)
  assert.deepEqual((await read('active=false&kind=deploy&status=failed')).ids, ['dep-5', 'dep-4'])
  assert.deepEqual((await read('service=shop&kind=deploy')).ids, ['dep-3', 'dep-2'])
  assert.deepEqual((await read('service=dst-1')).ids, ['bak-2'])
  assert.deepEqual((await call('GET', '/actors?before=x')).status, 400)
})

test('the history of any actor is read in pages of revisions', async (t) => {
  const { call, storage } = await start(t)
  await storage.actors.create(transitionOf({ id: 'bak-2', kind: 'backup', service_id: null }))
  for (let revision = 2; revision <= 5; revision++)
    await storage.actors.advance(transitionOf({ id: 'bak-2', kind: 'backup', service_id: null, revision }))
  const read = async (query: string) => {
    const { body, headers } = await call('GET', `/actors/bak-2/history?${query}`)
    const revisions = (body as unknown as { revision: number }[]).map(({ revision }) => revision)
    return [revisions, /[?&]before=(\d+)/.exec(headers.get('link') ?? '')?.[1]]
  }

  assert.deepEqual(await read(''), [[1, 2, 3, 4, 5], undefined])
  assert.deepEqual(await read('limit=2'), [[4, 5], '4'])
  assert.deepEqual(await read('limit=2&before=4'), [[2, 3], '2'])
  assert.deepEqual(await read('limit=2&before=2'), [[1], undefined])
  assert.equal((await call('GET', '/actors/bak-9/history')).body.code, 'not_found')
})

test('a token that is limited to services finds only their actors, charts and activity', async (t) => {
  const { call, storage } = await start(t)
  await storage.actors.create(transitionOf({ id: 'dep-2', service_id: 'svc-1' }))
  await storage.actors.create(transitionOf({ id: 'dep-3', service_id: 'svc-2' }))
  const row = { id: 'tok-1', name: 'ci', role: 'read' as const, services: ['svc-1'], hint: 'hint' }
  const dates = { created_at: at, expires_at: null, last_used_at: at }
  await storage.commit((commit) => storage.tokens.insert(commit, 'bth_one', { ...row, ...dates }))
  const read = async (path: string) => (await call('GET', path, undefined, { token: 'bth_one' })).body

  const lists = await Promise.all(['/actors', '/activity'].map(read))
  assert.deepEqual(
    lists.map((list) => (list as unknown as { service_id: string }[]).map(({ service_id }) => service_id)),
    [['svc-1'], ['svc-1']],
  )
  const machines = (await read('/machines')) as unknown as { kind: string; actors: object }[]
  assert.deepEqual(machines.find(({ kind }) => kind === 'deploy')?.actors, { queued: 1 })
  assert.equal((await read('/actors/dep-3')).code, 'insufficient_role')
  assert.equal((await read('/actors/dep-3/history')).code, 'insufficient_role')
})
