// The manual's way to a new major version of Postgres: no acknowledged write is lost under a writer.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Body } from '../support/api.ts'
import { openDatastoreSite } from '../support/datastores.ts'
import { fileScope } from '../support/scope.ts'
import { until } from '../support/service.ts'

const site = await openDatastoreSite(fileScope())
const { create, psql } = site
const binary = { 'content-type': 'application/octet-stream' }

function over(path: string, id: string): Promise<Body> {
  return until(`${id} to be over`, async () => {
    const found = await site.api.get(`${path}/${id}`)
    return !['running', 'undoing'].includes(found.status) && found
  })
}

/** Inserts one row after the other until it is ended. Returns the ids that the server acknowledged. */
function startWriter(url: string) {
  const acknowledged: number[] = []
  let isEnding = false
  const work = async () => {
    for (let id = 1; !isEnding; id++)
      await psql(url, `insert into things values (${id})`).then(
        () => acknowledged.push(id),
        () => undefined,
      )
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

test('the data of a Postgres 15 moves to a Postgres 17 under a writer, and back to writable', async () => {
  const { external_url: url } = await create({ kind: 'postgres', name: 'old', database: 'shop_db' })
  const { external_url: newUrl } = await create({ kind: 'postgres', name: 'newer', version: '17' })
  await psql(url, 'create table things (id int primary key)')
  const writer = startWriter(url)
  await until('the writer to write', async () => writer.acknowledged.length > 3)

  await psql(url, 'alter database shop_db set default_transaction_read_only = on')
  await site.api.post('/datastores/old/restart')
  await site.reached('old', 'available')
  const closedAt = writer.acknowledged.length
  const { id } = await site.api.post('/datastores/old/backups')
  const { file } = await over('/backups', id)
  const path = '/datastores/newer/restores/upload'
  const { body } = await site.api.call('POST', path, readFileSync(file), binary)
  assert.equal((await over('/restores', body.id)).status, 'done')
  await writer.end()

  assert.equal(writer.acknowledged.length, closedAt, 'the former server acknowledges no write')
  const moved = (await psql(newUrl, 'select id from things order by id')).split('\n').map(Number)
  assert.deepEqual(
    writer.acknowledged.filter((written) => !moved.includes(written)),
    [],
  )
  assert.match(await psql(newUrl, 'show server_version'), /^17/)
  await psql(newUrl, 'insert into things values (0)')
  await assert.rejects(psql(url, 'insert into things values (0)'), /read-only transaction/)

  await psql(url, 'begin read write; alter database shop_db reset default_transaction_read_only; commit')
  await site.api.post('/datastores/old/restart')
  await site.reached('old', 'available')
  await psql(url, 'insert into things values (0)')
})
