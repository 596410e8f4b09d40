// The copy of the store from before its schema changed.
import { deepEqual, equal } from 'node:assert/strict'
import { cpSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openStorage } from '../../../storage/index.ts'
import { migrate } from '../../../storage/store/migrations.ts'
import { keepCopy } from '../../../storage/store/schema-copies.ts'
import { openStore } from '../../../storage/store/store.ts'
import { temporaryStorage } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'
import { testMac } from '../../support/system/test-mac.ts'

test('the store is copied before its schema changes, and the former version can open the copy', async (t) => {
  const directory = temporaryDirectory(t)
  const copies: string[] = []
  const old = openStore(directory, { onPanic: t.assert.fail })
  await migrate(old, testMac, [() => undefined])
  await old.commit(() => old.table('rows').put('row', 'kept'))
  await old.close()

  const options = { onPanic: t.assert.fail, onSchemaCopy: (path: string) => void copies.push(path) }
  await (await openStorage(directory, options)).close()
  await (await openStorage(directory, options)).close()

  equal(copies.length, 1)
  equal(statSync(join(copies[0]!, 'data.mdb')).mode & 0o777, 0o600)
  const former = join(temporaryDirectory(t), 'former')
  cpSync(copies[0]!, join(former, 'store'), { recursive: true })
  const copy = openStore(former, { onPanic: t.assert.fail })
  await migrate(copy, testMac, [() => undefined])
  deepEqual([copy.table('rows').get('row'), copy.table('meta').get('schema')], ['kept', 2])
  await copy.close()
})

test('a new store and a current one are not copied, and only the newest copies stay', async (t) => {
  const directory = temporaryDirectory(t)
  await temporaryStorage(t, directory)
  equal(readdirSync(directory).includes('store-copies'), false)
  const other = temporaryDirectory(t)
  const store = openStore(other, { onPanic: t.assert.fail })
  t.after(() => store.close())
  for (let schema = 1; schema <= 5; schema++) await keepCopy(other, store, schema)
  const names = readdirSync(join(other, 'store-copies')).map((name) => name.replace(/^\w+-/, ''))
  deepEqual(
    names,
    [3, 4, 5].map((schema) => `schema-${schema}`),
  )
})
