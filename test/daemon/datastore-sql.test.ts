// Plain SQL into a real Postgres: a dump by pg_dump restores the data, and a failed file changes nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openDatastoreSite } from '../support/daemon/datastores.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { until } from '../support/daemon/service.ts'
import { long } from '../support/system/drill-size.ts'

const site = await openDatastoreSite(fileScope())
const { containerOf, create, inside, psql } = site
const restore = (content: Uint8Array | string) => site.restoreFile('ledger', content)
const digest = "select count(*) || md5(string_agg(id || word, ',' order by id)) from things"
const owners = `select string_agg(distinct relowner::regrole::text, ',') from pg_class
  where relnamespace = 'public'::regnamespace`
const { external_url: url, username: user } = await create({ kind: 'postgres', name: 'ledger' })

function dump(options: string): Promise<string> {
  return inside(containerOf('ledger').id, `pg_dump -U "$POSTGRES_USER" -d "$POSTGRES_DB" ${options}`)
}

/** The databases and the roles of the server. */
function left(): Promise<string[]> {
  const databases = 'select datname from pg_database where not datistemplate order by 1'
  const roles = "select rolname from pg_roles where rolname !~ '^pg_'"
  return Promise.all([psql(url, databases), psql(url, roles)])
}

test('a plain SQL dump restores all data, with missing roles, DROP statements and gzip', async () => {
  await psql(
    url,
    'create table things as select g as id, md5(g::text) as word from generate_series(1, 5000) g',
  )
  await psql(url, 'create role helper; alter table things owner to helper; grant select on things to public')
  await psql(url, 'create extension if not exists plpgsql; create sequence tickets start 42')
  await psql(
    url,
    'create extension citext; alter default privileges for role helper grant select on tables to public',
  )
  await psql(url, "create function odd() returns text language sql as $$ select E'\\\\!\\'' ; $$")
  await psql(url, 'create function pair() returns int begin atomic select 1; select 2; end')
  await psql(url, `insert into things values (0, E'a\\tb\\n\\\\.\\nGRANT a TO b;\\n\\\\! id\\n'';')`)
  const before = await psql(url, digest)
  const options = ['', '--no-owner', '--clean --if-exists', '--inserts', '--use-set-session-authorization']
  const dumps = await Promise.all(options.map(dump))
  const [plain] = dumps as [string]
  assert.match(plain, /OWNER TO helper/)
  const changes = 'create index concurrently on public.things (id);\nvacuum public.things;\n'
  await psql(
    url,
    'drop table things; drop function odd; drop function pair; drop owned by helper; drop role helper',
  )

  for (const content of [...dumps, gzipSync(plain), `begin;\n${plain}\ncommit;\n${changes}`]) {
    await psql(url, 'drop table if exists things; create table newer (id int)')
    const { status, error } = await restore(content)
    assert.deepEqual([status, error], ['done', null])
    assert.equal(await psql(url, digest), before)
    assert.equal(await psql(url, "select odd() || pair() || (to_regclass('newer') is null)"), "\\!'2true")
    assert.equal(await psql(url, owners), user)
  }
  assert.deepEqual(await left(), ['ledger\npostgres', user])
})

long('a dump that fails or is truncated names its line and leaves everything unchanged', async () => {
  await psql(url, 'drop table if exists kept; create table kept as select 7 as seven')
  const plain = await dump('')
  const start = 'create table a (b int);\n'
  const cases: [string | Uint8Array, RegExp][] = [
    [`${start}\nselect 1 / 0;\ncreate table c (d int);\n`, /^line 3: division by zero$/],
    [`begin;\n${start}commit;\nselect 1 / 0;\n`, /^line 4: division by zero$/],
    [`${start}copy a from stdin;\n1\nx\n\\.\n`, /^line \d: invalid input syntax for type integer/],
    [`${start}\\! touch /tmp/x\n`, /^line 2: /],
    [`${start}\\i /etc/passwd\n`, /^line 2: /],
    [`${start}\\connect ledger\ndrop table kept;\n`, /^line 2: /],
    [`${start}\\connect ledger ${user}\ndrop table kept;\n`, /^line 2: /],
    [`${start}copy a from program 'id';\n`, /^line 2: .*pg_execute_server_program/],
    ['create database other;\n', /^line 1: permission denied to create database$/],
    ['drop database ledger with (force);\n', /^line 1: must be owner of database ledger$/],
    [`drop role ${user};\n`, /^line 1: permission denied to drop role/],
    ["alter system set work_mem = '1MB';\n", /^line 1: permission denied to set parameter/],
    [await dump('--create'), /^line \d+: permission denied to create database$/],
    [await dump('--create --clean'), /^line \d+: must be owner of database ledger$/],
    ['create extension no_such_extension;\n', /^line 1: .*no_such_extension/],
    [`${start}begin;\ninsert into a values (1);\n`, /^its last transaction does not end: COMMIT is missing$/],
    [`${start}insert into a values (1)`, /^line \d: syntax error/],
    [`${start}select 'a;\n`, /^line \d: /],
    [
      `create table a (b int primary key deferrable initially deferred);
      insert into a values (1), (1);\n`,
      /duplicate key/,
    ],
    [
      plain.slice(0, plain.indexOf('COPY public.things') + 3000),
      /^it is truncated: the data of COPY does not end/,
    ],
    [plain.slice(0, plain.indexOf('-- PostgreSQL database dump complete')), /^it is truncated: the line/],
    [gzipSync(plain).subarray(0, -100), /^it is truncated or changed/],
    [gzipSync('PGDMP and more'), /^a gzip file has to hold plain SQL/],
  ]
  for (const [content, words] of cases) {
    const { status, error } = await restore(content)
    assert.equal(status, 'failed', String(words))
    assert.match(error, words)
    assert.equal(await psql(url, "select seven || coalesce(to_regclass('a')::text, '') from kept"), '7')
  }
  assert.deepEqual(await left(), ['ledger\npostgres', user])
})

long('the role of a dump has one connection, to the new database, and is removed by a cancel', async () => {
  const { body } = await site.uploadFile('ledger', 'select pg_sleep(600);\n')
  const role = `berth_new_${body.id.slice(4)}`
  const sleeping = `select count(*) from pg_stat_activity
    where usename = '${role}' and wait_event = 'PgSleep'`
  await until('the dump to run', async () => (await psql(url, sleeping)) === '1')
  const connect = `psql -h 127.0.0.1 -U ${role} -d ledger -c 'select 1'`

  await assert.rejects(inside(containerOf('ledger').id, connect), /too many connections for role/)
  await site.api.call('POST', `/restores/${body.id}/cancel`)

  assert.equal((await site.ended('restores', body.id)).status, 'canceled')
  assert.deepEqual(await left(), ['ledger\npostgres', user])
})
