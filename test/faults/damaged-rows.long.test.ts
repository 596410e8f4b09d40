// Flips one bit in a row of every table while the daemon is down: it starts, reports the damage, and
// everything independent of that row works.
// All rows are damaged at once, each of another service, so that one start suffices.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Body } from '../support/daemon/api.ts'
import { launchDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import { flipOnDisk, type StoredRow, storedRows } from '../support/daemon/damage.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { fetchPage, finishedDeploy, logLines, pageApp, until } from '../support/daemon/service.ts'
import { createService, type TestService } from '../support/daemon/suite.ts'
import { createGitServer } from '../support/git/git-server.ts'

const scope = fileScope()
const nouns = ['settings', 'snapshot', 'record', 'release', 'cache', 'address', 'credentials'] as const
type Noun = (typeof nouns)[number]
const services = {} as Record<Noun, TestService>
const known = {} as { record: Body; history: Body[]; asked: Body; address: string }
const registry = 'registry.example.com'
const asking = { 'idempotency-key': 'asked once' }
let daemon: TestDaemon
let rows: StoredRow[]

/** The row of a table whose key contains these parts. */
function rowOf(table: string, ...words: string[]): StoredRow {
  const record = rows.find(
    (row) => row.table === table && words.every((word) => String(row.key).includes(word)),
  )
  assert.ok(record, `${table} has a row of ${words.join(' and ')}`)
  return record
}

const live = (noun: Noun) => services[noun].first.id as string

before(async () => {
  daemon = await launchDaemon()
  scope.after(() => daemon.remove())
  const { api } = daemon
  for (const noun of nouns) {
    services[noun] = await createService(scope, api, await pageApp(noun), {
      env: [{ key: 'A', value: noun }],
    })
  }
  await useCredentials()
  assert.equal(
    (await api.call('PUT', `/registries/${registry}`, { username: 'a', password: 'b' })).status,
    200,
  )
  known.asked = (await api.call('POST', '/services', { name: 'asked', type: 'web_service' }, asking)).body
  known.record = await api.get(`/deploys/${live('record')}`)
  known.history = await api.get(`/deploys/${live('record')}/history`)
  known.address = (await api.get(`/services/${services.settings.name}/status`)).instances[0].address
  await daemon.stop()
  rows = await storedRows(daemon.dataDir)
  for (const row of damagedRows()) await flipOnDisk(daemon.dataDir, row)
  await daemon.start()
})

/** From now on its repository requires a password. */
async function useCredentials(): Promise<void> {
  const { repository, name } = services.credentials
  const account = { username: 'ada', password: 'secret' }
  repository.git('config', 'http.receivepack', 'false')
  const server = await createGitServer(scope, { root: repository.root, credentials: account })
  const repo_url = `${server.url.replace('//', '//ada:secret@')}/${repository.name}`
  assert.equal((await daemon.api.call('PATCH', `/services/${name}`, { repo_url })).status, 200)
}

function damagedRows(): StoredRow[] {
  const exact = (table: string, key: string) =>
    rows.find((row) => row.table === table && String(row.key) === key)!
  const held = rowOf('deploy_addresses', live('cache'))
  return [
    rowOf('services', services.settings.id),
    rowOf('env', services.record.id),
    rowOf('build_caches', services.cache.id),
    rowOf('credentials', services.credentials.id),
    rowOf('actors', live('snapshot')),
    rowOf('records', live('record')),
    exact('history', `${live('record')},3`),
    rowOf('releases', live('release')),
    rowOf('names', services.address.name),
    rowOf('deploy_addresses', live('address')),
    exact('addresses', held.text.slice(8)),
    rowOf('last_address'),
    rowOf('registries', registry),
    rowOf('events'),
    exact('meta', 'commit'),
    exact('meta', 'schema'),
    exact('server', 'id'),
    exact('key_check', 'check'),
  ]
}

const deploy = async (noun: Noun): Promise<Body> => {
  const { id } = await daemon.api.post(`/services/${services[noun].id}/deploys`)
  return finishedDeploy(daemon.api, id)
}

const status = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
  const response = await daemon.api.call(method, path, body, headers)
  return [response.status, response.body.code ?? null]
}
const ours = [500, 'internal_error']

test('every table is covered', () => {
  const damaged = new Set(damagedRows().map(({ table }) => table))
  const tables = new Set(rows.map(({ table }) => table))
  // The values of these are not read.
  for (const table of ['active', 'actor_lists', 'events_by_time']) damaged.add(table)
  assert.deepEqual(
    [...tables].filter((table) => !damaged.has(table)),
    [],
  )
})

test('the daemon is ready, every instance serves, and the log names the damaged rows', async () => {
  await until('readiness', async () => (await fetch(`${daemon.api.url}/healthz`)).status === 200)
  for (const noun of nouns.filter((noun) => noun !== 'settings'))
    assert.equal(await until(noun, () => fetchPage(daemon.api, services[noun].id)), noun)
  const reported = daemon.log.filter((line) => line.includes('stored data is corrupt')).join('\n')
  for (const table of ['meta', 'server', 'key_check', 'actors', 'services'])
    assert.match(reported, new RegExp(`of table ${table} fails its checksum`), table)
})

test('a damaged service is an internal error, by id and by name; the list has all others', async () => {
  const { id, name } = services.settings
  for (const path of [id, name]) assert.deepEqual(await status('GET', `/services/${path}`), ours)
  const names = (await daemon.api.get('/services')).map((service: Body) => service.name)
  const others = nouns.filter((noun) => noun !== 'settings').map((noun) => services[noun].name)
  assert.deepEqual([names.includes(name), others.filter((other) => !names.includes(other))], [false, []])
  assert.ok(names.includes('asked'))
})

test('the deploy of a damaged service is parked, and its instances keep serving', async () => {
  const parked = await until('it to be parked', async () => {
    const found = await daemon.api.get(`/deploys/${live('settings')}`)
    return found.status === 'failed' && found
  })
  assert.match(parked.error, /^internal: the row "svc-.*" of table services fails its checksum$/)
  assert.equal(await fetch(`http://${known.address}/`).then((response) => response.text()), 'settings')
})

test('a deploy with a damaged snapshot is parked with the reason; the next one replaces it', async () => {
  const { api } = daemon
  const { name } = services.snapshot
  const parked = await until('it to be parked', async () => {
    const found = await api.get(`/deploys/${live('snapshot')}`)
    return found.status === 'failed' && found
  })
  assert.equal(parked.error, `internal: the row "${live('snapshot')}" of table actors fails its checksum`)
  assert.equal((await api.get(`/services/${name}`)).state, 'degraded')
  assert.equal((await deploy('snapshot')).status, 'live')
  assert.equal((await api.get(`/services/${name}`)).state, 'live')
})

test('a damaged record is rebuilt from the snapshot; a history omits its damaged entries', async () => {
  const { api } = daemon
  assert.deepEqual(await api.get(`/deploys/${live('record')}`), known.record)
  const { latest_deploy } = await api.get(`/services/${services.record.name}`)
  assert.deepEqual(latest_deploy, known.record)
  const history = await api.get(`/deploys/${live('record')}/history`)
  assert.deepEqual(
    history.slice(0, known.history.length - 1),
    known.history.filter((_, index) => index !== 2),
  )
})

test('damaged variables fail a deploy by name, until all are set again', async () => {
  const { api } = daemon
  const { name } = services.record
  assert.deepEqual(await status('GET', `/services/${name}/env`), ours)
  assert.deepEqual(await status('PATCH', `/services/${name}/env`, { set: [] }), ours)
  const failed = await deploy('record')
  assert.deepEqual([failed.status, /of table env fails its checksum/.test(failed.error)], ['failed', true])
  assert.equal((await api.call('PUT', `/services/${name}/env`, { vars: [] })).status, 200)
  assert.equal((await deploy('record')).status, 'live')
})

test('damaged credentials fail a deploy by name, until they are set again', async () => {
  const { api } = daemon
  const { name } = services.credentials
  const { repo_url } = await api.get(`/services/${name}`)
  const failed = await deploy('credentials')
  assert.deepEqual([failed.status, failed.phase], ['failed', 'fetching'])
  assert.match((await logLines(api, failed.id)).at(-1)!, /of table credentials fails its checksum/)
  const input = { repo_url: repo_url.replace('//', '//ada:secret@') }
  assert.equal((await api.call('PATCH', `/services/${name}`, input)).status, 200)
  assert.equal((await deploy('credentials')).status, 'live')
})

test('damaged cache mounts fail a deploy by name, until the next one without its cache', async () => {
  const failed = await deploy('cache')
  assert.match(failed.error, /of table build_caches fails its checksum/)
  const { name } = services.cache
  const { id } = await daemon.api.post(`/services/${name}/deploys`, { clear_cache: true })
  assert.equal((await finishedDeploy(daemon.api, id)).status, 'live')
})

test('a service with a damaged name is an internal error by its name, and found by its id', async () => {
  const { id, name } = services.address
  assert.deepEqual(await status('GET', `/services/${name}`), ours)
  assert.equal((await daemon.api.get(`/services/${id}`)).name, name)
})

test('a damaged release or address does not block the next deploy', async () => {
  for (const noun of ['release', 'address'] as const) {
    const { status, error } = await deploy(noun)
    assert.deepEqual([noun, status, error], [noun, 'live', null])
    assert.equal(await fetchPage(daemon.api, services[noun].id), noun)
  }
})

test('damaged registry credentials are omitted from the list, and can be set again', async () => {
  assert.deepEqual(await daemon.api.get('/registries'), [])
  assert.deepEqual(await status('GET', `/registries/${registry}`), ours)
  const account = { username: 'c', password: 'd' }
  assert.deepEqual(await status('PUT', `/registries/${registry}`, account), [200, null])
  assert.equal((await daemon.api.get(`/registries/${registry}`)).username, 'c')
})

test('a repeated request whose stored response is damaged does not run again', async () => {
  const repeated = { name: 'asked', type: 'web_service' }
  assert.deepEqual(await status('POST', '/services', repeated, asking), ours)
  const { id } = await daemon.api.get('/services/asked')
  assert.equal(id, known.asked.id)
})

test('readers of the change feed have to start over', async () => {
  const controller = new AbortController()
  const events = daemon.api.events('/events', { lastEventId: 3, signal: controller.signal })
  const seen: string[] = []
  for await (const { event } of events) if (seen.push(event) === 2) break
  controller.abort()
  assert.deepEqual(seen, ['ready', 'reset'])
})

test('repaired rows stay repaired, and the daemon stops and starts normally', async () => {
  const { pid } = daemon
  assert.equal(await daemon.stop(), 0)
  assert.ok(pid > 0)
  const linesBefore = daemon.log.length
  await daemon.start()
  await until('readiness', async () => (await fetch(`${daemon.api.url}/healthz`)).status === 200)
  const again = daemon.log.slice(linesBefore).filter((line) => line.includes('stored data is corrupt'))
  const healed = ['meta', 'server', 'key_check', 'registries', 'env', 'credentials']
  for (const table of healed) assert.doesNotMatch(again.join('\n'), new RegExp(`of table ${table} `), table)
})
