// The data directory as a whole: permissions, the lock, and what stays the same over restarts.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openStorage } from '../../storage/index.ts'
import { createIds } from '../../storage/store/ids.ts'
import { serviceRow, transitionOf } from '../support/storage/store-fixtures.ts'
import { instant, temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const onPanic = (reason: string) => {
  throw new Error(reason)
}

for (const mask of [0o000, 0o022]) {
  test(`everything is private to its owner, under umask ${mask.toString(8).padStart(3, '0')}`, async (t) => {
    const directory = join(temporaryDirectory(t), 'data')
    const before = process.umask(mask)
    t.after(() => process.umask(before))
    const storage = await temporaryStorage(t, directory)
    storage.logs.append('dep-1', 'stdout', 'hello')
    await storage.logs.end('dep-1')

    const modes = modesBelow(directory)

    ok(Object.keys(modes).length >= 8, 'lock, key, store and logs are there')
    const wrong = Object.entries(modes).filter(
      ([path, mode]) => mode !== (statSync(join(directory, path)).isDirectory() ? '700' : '600'),
    )
    deepEqual(wrong, [])
    equal(statSync(directory).mode & 0o7777, 0o700)
  })
}

test('a directory readable by others is restricted to its owner', async (t) => {
  const directory = join(temporaryDirectory(t), 'data')
  mkdirSync(directory)
  chmodSync(directory, 0o777)

  await temporaryStorage(t, directory)

  equal(statSync(directory).mode & 0o7777, 0o700)
})

test('a directory that is already open is refused until it is closed', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await temporaryStorage(t, directory)

  await rejects(openStorage(directory, { onPanic }), { code: 'data_directory_in_use' })
  await first.close()

  equal((await temporaryStorage(t, directory)).serverId, first.serverId)
})

test('a directory without its key is refused, gets no new key, and opens once the key is back', async (t) => {
  const directory = await directoryWithSecret(t)
  const key = join(directory, 'secret_key')
  renameSync(key, `${key}.away`)

  await rejects(openStorage(directory, { onPanic }), { code: 'secret_key_missing' })
  equal(existsSync(key), false)
  renameSync(`${key}.away`, key)

  deepEqual((await temporaryStorage(t, directory)).env.get('svc-1'), [{ key: 'A', value: '1' }])
})

test('the key of another directory is refused', async (t) => {
  const directory = await directoryWithSecret(t)
  const other = await directoryWithSecret(t)
  copyFileSync(join(other, 'secret_key'), join(directory, 'secret_key'))

  await rejects(openStorage(directory, { onPanic }), { code: 'secret_key_wrong' })
})

test('the server id persists, and another directory has another id', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await temporaryStorage(t, directory)
  await first.close()

  const again = await temporaryStorage(t, directory)
  const other = await temporaryStorage(t)

  ok(/^[0-9a-f]{16}$/.test(first.serverId))
  deepEqual([again.serverId === first.serverId, other.serverId === first.serverId], [true, false])
})

for (const newest of ['dep', 'svc'] as const) {
  test(`new ids sort after the newest stored one (${newest}) when the clock was set back`, async (t) => {
    const directory = temporaryDirectory(t)
    const future = createIds(() => Date.UTC(2200, 0))
    const stored = future.newId(newest)
    const first = await temporaryStorage(t, directory)
    await first.services.create(serviceRow({ id: newest === 'svc' ? stored : first.ids.newId('svc') }))
    await first.actors.create(transitionOf({ id: newest === 'dep' ? stored : first.ids.newId('dep') }))
    await first.close()

    const { ids } = await temporaryStorage(t, directory)

    ok(ids.newId('dep').slice(4) > stored.slice(4))
  })
}

test('all writes survive closing and reopening', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await temporaryStorage(t, directory)
  const [serviceId, deployId] = [first.ids.newId('svc'), first.ids.newId('dep')]
  const service = serviceRow({ id: serviceId })
  await first.services.create(service, { event: { id: 'key-1', answer: { id: serviceId } } })
  const created = transitionOf({ id: deployId, service_id: serviceId })
  await first.actors.create(created)
  await first.addresses.allocate(deployId, 0, { first: '10.201.0.2', last: '10.201.0.9' })
  first.logs.append(deployId, 'stdout', 'hello', instant)
  await first.close()

  const storage = await temporaryStorage(t, directory)

  deepEqual(storage.services.list(), [{ ...service, revision: 2 }])
  deepEqual(storage.actors.get(deployId), created.row)
  deepEqual(storage.events.get('key-1')?.body, { id: serviceId })
  equal(storage.addresses.get(deployId, 0), '10.201.0.2')
  deepEqual(await storage.logs.tail(deployId, 10), [{ ts: instant, stream: 'stdout', line: 'hello' }])
})

async function directoryWithSecret(t: TestContext): Promise<string> {
  const directory = temporaryDirectory(t)
  const storage = await temporaryStorage(t, directory)
  await storage.env.change('svc-1', () => [{ key: 'A', value: '1' }])
  await storage.close()
  return directory
}

/** Every path below, with its mode in octal. */
function modesBelow(directory: string): Record<string, string> {
  const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  const modeOf = (path: string) => (statSync(join(directory, path)).mode & 0o7777).toString(8)
  return Object.fromEntries(paths.map((path) => [path, modeOf(path)]))
}
