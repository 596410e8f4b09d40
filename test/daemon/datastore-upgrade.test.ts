// A Postgres moves to another major version under a writer: no acknowledged write is lost, and a failure or a
// kill before the switch reopens the version that it had.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Body } from '../support/daemon/api.ts'
import { openDatastoreSite } from '../support/daemon/datastores.ts'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { until } from '../support/daemon/service.ts'
import { long } from '../support/system/drill-size.ts'

const site = await openDatastoreSite(fileScope())
const { create, psql } = site
const upgradePath = (name: string) => `/datastores/${name}/upgrade`

/** Inserts some rows a second until it is ended. Returns the ids that the server acknowledged. */
function startWriter(url: string) {
  const acknowledged: number[] = []
  let isEnding = false
  const work = async () => {
    for (let id = 1; !isEnding; id++)
      await psql(url, `insert into things values (${id})`)
        .then(
          () => acknowledged.push(id),
          () => undefined,
        )
        .then(() => sleep(50))
  }
  const working = work()
  return {
    acknowledged,
    end: async () => {
      isEnding = true
      await working
    },
  }
}

async function idsOf(url: string): Promise<number[]> {
  return (await psql(url, 'select id from things order by id')).split('\n').map(Number)
}

const finished = (name: string) =>
  until(`the upgrade of ${name} to end`, async () => {
    const datastore = await site.api.get(`/datastores/${name}`)
    return datastore.upgrade?.finished_at && datastore.status === 'available' && datastore
  })

async function volumesOf(name: string): Promise<string[]> {
  const { id } = await site.api.get(`/datastores/${name}`)
  const { Volumes } = await site.docker.listVolumes({ filters: { label: [`berth.id=${id}`] } })
  return Volumes.map(({ Name }) => Name).sort()
}

/** The server is closed, and its data is being copied. */
async function copying(name: string): Promise<void> {
  await until('the copy', async () => {
    const { id, phase } = await site.api.get(`/datastores/${name}`)
    const filters = { label: [`berth.id=${id}`, 'berth.kind=tool'], status: ['running'] }
    return phase === 'copying' && (await site.docker.listContainers({ filters })).length > 0
  })
}

test('a Postgres 15 becomes a Postgres 17 with all that it has, under a writer, and returns', async () => {
  const before = await create({ kind: 'postgres', name: 'shop', database: 'shop_db', username: 'App' })
  const { external_url: url } = before
  await psql(url, 'create table things (id int primary key)')
  await psql(url, "create role reader login password 'secret'; grant select on things to reader")
  await psql(url, 'create extension pg_trgm; comment on table things is $$of value$$')
  await psql(url, 'create database "Other Db" owner reader')
  await psql(url, 'alter database "Other Db" set default_transaction_read_only = on')
  await psql(url, "alter role all set idle_in_transaction_session_timeout = '77s'")
  await psql(url, 'revoke connect on database template1 from public')
  await psql(
    url,
    "alter database template1 connection limit 11; alter role reader set statement_timeout = '9s'",
  )
  await psql(url, 'alter database shop_db set work_mem = $$8MB$$')
  await psql(url, 'alter system set shared_preload_libraries = auto_explain, pg_stat_statements')
  const estimate = await site.api.get(`${upgradePath('shop')}?version=17`)
  assert.ok(estimate.size_bytes > 1e6 && estimate.downtime_seconds > 0, JSON.stringify(estimate))
  const writer = startWriter(url)
  await until('the writer to write', async () => writer.acknowledged.length > 3)

  const asked = await site.api.post(upgradePath('shop'), { version: '17' })
  assert.deepEqual([asked.status, asked.phase], ['upgrading', 'checking'])
  const after = await finished('shop')
  const atSwitch = writer.acknowledged.length
  await until('the writer to write again', async () => writer.acknowledged.length > atSwitch + 3)
  await writer.end()

  assert.deepEqual([after.version, after.upgrade.error], ['17', null])
  for (const field of ['name', 'host_port', 'password', 'external_url', 'internal_url'])
    assert.equal(after[field], before[field], field)
  assert.match(await psql(url, 'show server_version'), /^17/)
  const moved = await idsOf(url)
  assert.deepEqual(
    writer.acknowledged.filter((written) => !moved.includes(written)),
    [],
  )
  const facts = `select concat_ws('|', current_setting('work_mem'),
    current_setting('shared_preload_libraries'), obj_description('things'::regclass),
    has_table_privilege('reader', 'things', 'select'),
    (select count(*) from pg_extension where extname = 'pg_trgm'),
    (select datdba::regrole from pg_database where datname = 'Other Db'),
    current_setting('idle_in_transaction_session_timeout'),
    (select concat(datconnlimit, datacl) from pg_database where datname = 'template1'),
    (select rolconfig from pg_roles where rolname = 'reader'))`
  const databases = 'reader|77s|11{App=CTc/App}|{statement_timeout=9s}'
  assert.equal(await psql(url, facts), `8MB|auto_explain, pg_stat_statements|of value|t|1|${databases}`)
  assert.ok((await psql(url.replace(/\/\/[^@]+@/, '//reader:secret@'), 'select count(*) from things')) !== '')

  const { former } = after
  assert.equal(former.version, '15')
  const [entry] = (await site.api.get('/trash')).filter(({ service_name }: Body) => service_name === 'shop')
  assert.equal(entry.kind, 'disk')
  const refused = await site.api.call('POST', `/trash/${entry.id}/restore`, {})
  assert.deepEqual([refused.status, refused.body.code], [409, 'conflict'])

  await psql(url, 'insert into things values (-1)')
  await site.api.post(upgradePath('shop'), { back: true })
  const returned = await finished('shop')
  assert.deepEqual([returned.version, returned.former.version], ['15', '17'])
  assert.match(await psql(url, 'show server_version'), /^15/)
  const old = await idsOf(url)
  assert.ok(!old.includes(-1))
  assert.deepEqual(
    old,
    moved.filter((id) => old.includes(id)),
  )

  await site.api.post(upgradePath('shop'), { back: true })
  assert.equal((await finished('shop')).version, '17')
  assert.ok((await idsOf(url)).includes(-1))
})

long('what cannot be moved is refused while the server serves', async () => {
  const { external_url: url } = await create({ kind: 'postgres', name: 'odd', database: 'odd' })
  const startedAt = await psql(url, 'select pg_postmaster_start_time()')
  const refuse = async (reason: RegExp) => {
    await site.api.post(upgradePath('odd'), { version: '17' })
    const { version, upgrade } = await finished('odd')
    assert.match(upgrade.error, reason)
    assert.deepEqual([version, upgrade.error_code], ['15', 'upgrade_refused'])
  }
  await psql(url, "select pg_create_physical_replication_slot('standby')")
  await refuse(/replication slot standby/)
  await psql(url, "select pg_drop_replication_slot('standby')")
  // Version 17 has it no more.
  await psql(url, 'create extension adminpack')
  await refuse(/no extension adminpack/)
  assert.equal(await psql(url, 'select pg_postmaster_start_time()'), startedAt)

  for (const [body, code] of [
    [{ version: '15' }, 'invalid_request'],
    [{ version: '14' }, 'invalid_request'],
    [{}, 'invalid_request'],
    [{ back: true }, 'conflict'],
  ] as const)
    assert.equal(
      (await site.api.call('POST', upgradePath('odd'), body)).body.code,
      code,
      JSON.stringify(body),
    )
  assert.equal((await site.api.call('POST', `${upgradePath('odd')}/cancel`)).body.code, 'not_cancelable')
})

long('a failed, a canceled and a killed copy reopen the former version with all data', async () => {
  const { external_url: url } = await create({ kind: 'postgres', name: 'cut', database: 'cut' })
  await psql(url, 'create table things (id int primary key)')
  await psql(url, 'insert into things select generate_series(1, 300000)')
  const volumes = await volumesOf('cut')
  const reopened = async (reason: RegExp) => {
    const { version, upgrade, status } = await finished('cut')
    assert.deepEqual([version, status], ['15', 'available'])
    assert.match(upgrade.error, reason)
    assert.equal(await psql(url, 'select count(*) from things'), '300000')
    assert.deepEqual(await volumesOf('cut'), volumes)
  }

  await psql(url, "alter system set vacuum_defer_cleanup_age = '5'")
  await site.api.post(upgradePath('cut'), { version: '17' })
  await reopened(/vacuum_defer_cleanup_age/)
  await psql(url, 'alter system reset all')

  await site.api.post(upgradePath('cut'), { version: '17' })
  await copying('cut')
  assert.equal((await site.api.call('DELETE', '/datastores/cut?force=true')).status, 409)
  await site.api.post(`${upgradePath('cut')}/cancel`)
  await reopened(/canceled by/)

  await site.api.post(upgradePath('cut'), { version: '17' })
  await copying('cut')
  await site.daemon.kill()
  await site.daemon.start()
  await reopened(/berthd was stopped during the copy/)

  await site.api.post(upgradePath('cut'), { version: '17' })
  const { version } = await finished('cut')
  assert.equal(version, '17')
  assert.equal(await psql(url, 'select count(*) from things'), '300000')
})

long('killed at a switch there or back, no acknowledged write is lost and no volume left', async () => {
  const { external_url: url } = await create({ kind: 'postgres', name: 'killed', database: 'killed' })
  await psql(url, 'create table things (id bigint primary key)')
  /** The switch may be over before it is seen. */
  const killAtSwitch = async (body: object) => {
    await site.api.post(upgradePath('killed'), body)
    await until('the switch', async () => {
      const { phase } = await site.api.get('/datastores/killed')
      return phase !== 'checking' && phase !== 'copying'
    })
    await site.daemon.kill()
    await site.daemon.start()
    const { version, upgrade } = await finished('killed')
    const entries: Body[] = await site.api.get('/trash')
    const removals = entries.filter(({ service_name }) => service_name === 'killed')
    assert.equal((await volumesOf('killed')).length, 1 + removals.length)
    return [version, upgrade.error]
  }
  const writer = startWriter(url)
  await until('the writer to write', async () => writer.acknowledged.length > 1)

  assert.deepEqual(await killAtSwitch({ version: '17' }), ['17', null])
  await writer.end()
  const rows = await idsOf(url)
  assert.deepEqual(
    writer.acknowledged.filter((id) => !rows.includes(id)),
    [],
  )
  assert.deepEqual(await killAtSwitch({ back: true }), ['15', null])
})

long('the data of a former version goes with its datastore', async () => {
  const { external_url: url } = await create({ kind: 'postgres', name: 'gone', database: 'gone' })
  await psql(url, 'create table things (id int primary key)')
  await site.api.post(upgradePath('gone'), { version: '17' })
  await finished('gone')
  const volumes = await volumesOf('gone')
  assert.equal(volumes.length, 2, volumes.join())

  await site.api.call('DELETE', '/datastores/gone?purge=true')
  await until('its volumes to be gone', async () => {
    const { volumes: left } = await findLeftovers(site.daemon.prefix)
    return !left.some((volume) => volumes.includes(volume))
  })
})
