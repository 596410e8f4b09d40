// Flips one bit in rows of several tables while the daemon is down: it starts, reports the damage, and
// everything independent of those rows works.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Body } from '../support/daemon/api.ts'
import { launchDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import { flipOnDisk, type StoredRow, storedRows } from '../support/daemon/damage.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { fetchPage, finishedDeploy, pageApp, until } from '../support/daemon/service.ts'
import { createService, type TestService } from '../support/daemon/suite.ts'

const scope = fileScope()
const nouns = ['settings', 'snapshot', 'variables'] as const
type Noun = (typeof nouns)[number]
const services = {} as Record<Noun, TestService>
let address: string
let daemon: TestDaemon

before(async () => {
  daemon = await launchDaemon()
  scope.after(() => daemon.remove())
  for (const noun of nouns) {
    const env = [{ key: 'A', value: noun }]
    services[noun] = await createService(scope, daemon.api, await pageApp(noun), { env })
  }
  address = (await daemon.api.get(`/services/${services.settings.name}/status`)).instances[0].address
  await daemon.stop()
  for (const row of damaged(await storedRows(daemon.dataDir))) await flipOnDisk(daemon.dataDir, row)
  await daemon.start()
})

const live = (noun: Noun) => services[noun].first.id as string

function damaged(rows: StoredRow[]): StoredRow[] {
  const rowOf = (table: string, word: string) => {
    const found = rows.find((row) => row.table === table && String(row.key).includes(word))
    assert.ok(found, `${table} has a row of ${word}`)
    return found
  }
  return [
    rowOf('services', services.settings.id),
    rowOf('env', services.variables.id),
    rowOf('actors', live('snapshot')),
    rowOf('meta', 'commit'),
    rowOf('server', 'id'),
    rowOf('key_check', 'check'),
  ]
}

const deploy = async (noun: Noun): Promise<Body> => {
  const { id } = await daemon.api.post(`/services/${services[noun].id}/deploys`)
  return finishedDeploy(daemon.api, id)
}

const parked = (noun: Noun) =>
  until('its deploy to be parked', async () => {
    const found = await daemon.api.get(`/deploys/${live(noun)}`)
    return found.status === 'failed' && found
  })

test('the daemon is ready, every instance serves, and the log names the damaged rows', async () => {
  await until('readiness', async () => (await fetch(`${daemon.api.url}/healthz`)).status === 200)
  for (const noun of ['snapshot', 'variables'] as const)
    assert.equal(await until(noun, () => fetchPage(daemon.api, services[noun].id)), noun)
  assert.equal(await fetch(`http://${address}/`).then((response) => response.text()), 'settings')
  const reported = daemon.log.filter((line) => line.includes('stored data is corrupt')).join('\n')
  for (const table of ['meta', 'server', 'key_check', 'actors', 'services'])
    assert.match(reported, new RegExp(`of table ${table} fails its checksum`), table)
})

test('a damaged service is an internal error, not in the list, and its deploy is parked', async () => {
  const { id, name } = services.settings
  for (const path of [id, name]) {
    const { status, body } = await daemon.api.call('GET', `/services/${path}`)
    assert.deepEqual([status, body.code], [500, 'internal_error'])
  }
  const names = (await daemon.api.get('/services')).map((service: Body) => service.name)
  assert.deepEqual(names.sort(), [services.snapshot.name, services.variables.name].sort())
  const { error } = await parked('settings')
  assert.match(error, /^internal: the row "svc-.*" of table services fails its checksum$/)
})

test('a deploy with a damaged snapshot is parked with the reason; the next one replaces it', async () => {
  const { error } = await parked('snapshot')
  assert.equal(error, `internal: the row "${live('snapshot')}" of table actors fails its checksum`)
  assert.equal((await deploy('snapshot')).status, 'live')
  assert.equal((await daemon.api.get(`/services/${services.snapshot.name}`)).state, 'live')
})

test('damaged variables fail a deploy by name, until all are set again', async () => {
  const { api } = daemon
  const failed = await deploy('variables')
  assert.equal(failed.status, 'failed')
  assert.match(failed.error, /of table env fails its checksum/)
  assert.equal((await api.call('PUT', `/services/${services.variables.name}/env`, { vars: [] })).status, 200)
  assert.equal((await deploy('variables')).status, 'live')
})
