import { deepEqual, equal, notEqual, throws } from 'node:assert/strict'
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openEnv } from '../../storage/env.ts'
import { openCredentials } from '../../storage/git-connections.ts'
import { openRegistries } from '../../storage/registries.ts'
import { openSealer } from '../../storage/secrets.ts'
import { filesWith } from '../support/storage/canary.ts'
import { openTestStore, serviceRow } from '../support/storage/store-fixtures.ts'
import { instant, temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

test('a sealed value opens after a restart, byte for byte', (t) => {
  const directory = temporaryDirectory(t)
  const texts = ['', 'hunter2', 'line\nbreak\r\n', 'žluťoučký 🐎', 'x'.repeat(512 * 1024)]
  const sealed = texts.map((text) => openSealer(directory, { create: true }).seal(text, 'svc-1'))

  const opened = sealed.map((value) => openSealer(directory, { create: false }).open(value, 'svc-1'))

  deepEqual(opened, texts)
})

test('sealing the same text twice gives two values, and neither shows the text', (t) => {
  const sealer = openSealer(temporaryDirectory(t), { create: true })

  const [one, two] = [sealer.seal('canary', 'svc-1'), sealer.seal('canary', 'svc-1')]

  notEqual(one, two)
  equal(one.startsWith('v1.'), true, 'the first version is recognized later')
  equal(Buffer.from(one, 'base64').includes('canary'), false)
})

test('a sealed value moved to another row is refused, and the message does not show it', (t) => {
  const sealer = openSealer(temporaryDirectory(t), { create: true })
  const sealed = sealer.seal('canary', 'svc-1')

  const expected = { code: 'secret_damaged', message: 'The secret of svc-2 is damaged and cannot be opened' }

  throws(() => sealer.open(sealed, 'svc-2'), expected)
})

test('a sealed value with a byte changed, removed or prepended is refused', (t) => {
  const sealer = openSealer(temporaryDirectory(t), { create: true })
  const sealed = Buffer.from(sealer.seal('canary', 'svc-1').slice(3), 'base64')
  const flipped = Array.from(sealed, (byte, at) =>
    sealed.map((kept, index) => (index === at ? byte ^ 1 : kept)),
  )
  const damaged = [...flipped, sealed.subarray(1), sealed.subarray(0, -1), Buffer.from([])]

  for (const bytes of damaged) {
    const value = `v1.${Buffer.from(bytes).toString('base64')}`
    throws(() => sealer.open(value, 'svc-1'), { code: 'secret_damaged' })
  }
  throws(() => sealer.open(`v2.${sealed.toString('base64')}`, 'svc-1'), { code: 'secret_damaged' })
})

for (const mask of [0o000, 0o022, 0o077, 0o777]) {
  test(`the key file is private to its owner, under umask ${mask.toString(8).padStart(3, '0')}`, (t) => {
    const directory = temporaryDirectory(t)
    withUmask(t, mask)

    openSealer(directory, { create: true })

    equal(statSync(join(directory, 'secret_key')).mode & 0o7777, 0o600)
    deepEqual(readdirSync(directory), ['secret_key'])
  })
}

test('an existing key is reused when creating the directory is repeated after a crash', (t) => {
  const directory = temporaryDirectory(t)
  writeFileSync(join(directory, 'secret_key.new'), 'half a k')
  const sealed = openSealer(directory, { create: true }).seal('hunter2', 'svc-1')

  const text = openSealer(directory, { create: true }).open(sealed, 'svc-1')

  equal(text, 'hunter2')
})

test('a key file without a key is refused', (t) => {
  const directory = temporaryDirectory(t)

  for (const content of ['', 'dG9vIHNob3J0', 'x'.repeat(1000)]) {
    writeFileSync(join(directory, 'secret_key'), content)
    const message = `${join(directory, 'secret_key')} does not hold a key`
    throws(() => openSealer(directory, { create: false }), { code: 'secret_key_wrong', message })
  }
  rmSync(join(directory, 'secret_key'))
  mkdirSync(join(directory, 'secret_key'))
  throws(() => openSealer(directory, { create: false }), { code: 'EISDIR' })
})

test('the check value distinguishes the right key from another', (t) => {
  const directory = temporaryDirectory(t)
  const stored = openSealer(directory, { create: true }).check(null)

  const again = openSealer(directory, { create: false })
  deepEqual([again.check(stored), again.open(stored, 'secret_key')], [stored, 'berth'])
  rmSync(join(directory, 'secret_key'))
  const other = openSealer(directory, { create: true })

  const message = `${join(directory, 'secret_key')} is not the key this data was sealed with`
  throws(() => other.check(stored), { code: 'secret_key_wrong', message })
})

test('a sealed row copied to another key of its table does not open there', async (t) => {
  const directory = temporaryDirectory(t)
  const store = openTestStore(t, directory)
  const sealer = openSealer(directory, { create: true })
  const stores = {
    credentials: openCredentials(store, sealer),
    env: openEnv(store, sealer),
    registries: openRegistries(store, sealer),
  }
  const ada = { username: 'ada', password: 'secret', origin: 'https://example.com' }
  await stores.registries.put('one', ada, instant)
  await store.commit(() => {
    stores.credentials.put('one', ada)
    stores.env.put('one', [{ key: 'A', value: '1' }])
    for (const table of Object.keys(stores)) {
      const rows = store.table<string>(table)
      rows.put('two', rows.get('one')!)
    }
  })

  for (const opened of Object.values(stores)) throws(() => opened.get('two'), { code: 'secret_damaged' })
})

test('no file shows a secret of any store, in plain, base64 or hex, even a replaced one', async (t) => {
  const directory = temporaryDirectory(t)
  const storage = await temporaryStorage(t, directory)
  const { commit, credentials, datastores, env, registries, releases } = storage
  const secret = 'canary-4f1d9c27-only-here'
  const { id, name, ...settings } = serviceRow()

  for (const [at, password] of [secret, `postgresql://user:${secret}@db/shop`, 'another'].entries()) {
    const vars = [{ key: 'PASSWORD', value: password }]
    await env.change('svc-1', () => vars)
    await registries.put('ghcr.io', { username: 'ada', password }, instant)
    await releases.freeze(`dep-${at}`, () => ({ settings, env: vars, resolved: null }))
    await releases.resolve(`dep-${at}`, vars)
    await commit(() => {
      credentials.put('svc-1', { username: 'ada', password, origin: 'https://example.com' })
      datastores.insert(`dst-${at}`, `db-${at}`, password)
    })
  }
  await storage.close()

  deepEqual(filesWith(directory, secret), [])
})

function withUmask(t: TestContext, mask: number): void {
  const before = process.umask(mask)
  t.after(() => process.umask(before))
}
