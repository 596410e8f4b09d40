// Which data of a source is on no disk, with the env that decides where it is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findUncovered } from '../../../../src/effects/deploy/start/warnings.ts'

const data = {
  kind: 'database' as const,
  library: 'sqlite3',
  path: '/app/data/app.db',
  variable: 'DB_PATH',
  base: '/app',
  disk: '/app/data',
  reason: 'sqlite3 keeps its data in /app/data/app.db (server.js)',
}
const uploads = { ...data, kind: 'files' as const, library: 'multer', path: '/app/files', disk: '/app/files' }

function uncovered(disk: string | null, env: Record<string, string> = {}, one: Partial<typeof data> = {}) {
  const vars = Object.entries(env).map(([key, value]) => ({ key, value }))
  return findUncovered([{ ...data, ...one }], vars, disk).map(({ path, reason }) => [path, reason])
}

test('a disk covers what is in its folder, and nothing next to it', () => {
  assert.deepEqual(uncovered(null), [['/app/data', data.reason]])
  assert.deepEqual(uncovered('/app/data'), [])
  assert.deepEqual(uncovered('/app'), [])
  assert.deepEqual(uncovered('/app/dat'), [['/app/data', data.reason]])
  assert.deepEqual(uncovered('/app/data', {}, { path: '/app/app.db' }), [['/app/data', data.reason]])
})

test('a variable of the env says where the data is', () => {
  assert.deepEqual(uncovered('/mnt', { DB_PATH: '/mnt/app.db' }), [])
  assert.deepEqual(uncovered('/mnt', { DB_PATH: 'file:/mnt/app.db?mode=rwc' }), [])
  assert.deepEqual(uncovered('/mnt', { DB_PATH: 'sqlite:////mnt/app.db' }), [])
  assert.deepEqual(uncovered('/app/data', { DB_PATH: '/srv/app.db' }), [
    ['/srv', 'sqlite3 keeps its data in /srv/app.db (DB_PATH)'],
  ])
  assert.deepEqual(uncovered('/app/data', { DB_PATH: '/app/app.db' }), [
    ['/app/data', 'sqlite3 keeps its data in /app/app.db (DB_PATH): let it be in /app/data'],
  ])
})

test('where the env names the server of a database, the file is not used, but uploads are', () => {
  const reference = { DATABASE_URL: 'postgresql://shop:x@berth-shop-0:5432/shop' }
  assert.deepEqual(uncovered(null, reference), [])
  assert.deepEqual(uncovered(null, { DB_CONNECTION: 'pgsql' }), [])
  assert.deepEqual(uncovered(null, { POSTGRES_HOST: 'db' }), [])
  assert.equal(uncovered(null, { DATABASE_URL: 'file:./a.db', DB_CONNECTION: 'sqlite' }).length, 1)
  const vars = [{ key: 'DATABASE_URL', value: 'mysql://db/shop' }]
  assert.deepEqual(findUncovered([data, uploads], vars, null), [
    { code: 'data_without_disk', path: '/app/files', reason: data.reason },
  ])
})

test('where the path is unknown, any disk may be the right one', () => {
  const reason = 'sqlite3 keeps its data in files, and the source does not show where'
  assert.equal(findUncovered([{ ...data, path: null, reason }], [], null).length, 1)
  assert.deepEqual(findUncovered([{ ...data, path: null, reason }], [], '/somewhere'), [])
})
