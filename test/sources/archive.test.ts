// Uploads that are unpacked.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { DeploySource } from '../../machines/deploy/deploy-context.ts'
import { archive, removeFormerArchives } from '../../src/sources/archive.ts'
import type { FetchJob } from '../../src/sources/source.ts'
import type { Storage } from '../../storage/index.ts'
import type { ServiceSettings } from '../../storage/services.ts'
import { packArchive } from '../support/archive/archive.ts'
import { standIn } from '../support/effects/stand-in.ts'
import { flipBit, serviceRow, transitionOf } from '../support/storage/store-fixtures.ts'
import { silentLogger, temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const none = { repo_url: null, branch: null, commit: null, image: null, deploy_id: null }
const source = (deployId: string | null = null): DeploySource => ({
  ...none,
  kind: 'archive',
  deploy_id: deployId,
})

async function keep({ archives }: Storage, id: string, archive: Buffer = Buffer.from('x')): Promise<void> {
  const draft = archives.create()
  await draft.write([archive])
  await draft.commit(id)
}

/** Stores a record of a deploy of the service. */
async function put(
  { actors }: Storage,
  id: string,
  status: string,
  from: DeploySource = source(),
  phase: string | null = null,
): Promise<void> {
  const transition = transitionOf({ id, final: status === 'deactivated' }, { status })
  await actors.create({ ...transition, record: { ...transition.record, source: from, phase } })
}

/** Unpacks as the deploy `id` would, with these settings. Returns the unpacked files and the log lines. */
async function fetch(storage: Storage, id: string, from = source(), settings: Partial<ServiceSettings> = {}) {
  const said: string[] = []
  const directory = join(storage.directory, 'work', id)
  const job = standIn<FetchJob>({
    deployId: id,
    source: from,
    settings: serviceRow(settings),
    directory,
    storage,
    logger: silentLogger,
    roomBytes: async () => 2 ** 30,
    onLine: (line) => void said.push(line),
    signal: new AbortController().signal,
  })
  await archive.fetch(job)
  return { found: readdirSync(directory).sort(), said }
}

async function storageWithService(t: TestContext): Promise<Storage> {
  const storage = await temporaryStorage(t)
  await storage.services.create(serviceRow())
  return storage
}

test('a replaced archive is removed, unless a deploy still has to unpack it', async (t) => {
  const storage = await temporaryStorage(t)
  await storage.services.create(serviceRow({ archive_deploy_id: 'dep-8' }))
  await put(storage, 'dep-1', 'live')
  await put(storage, 'dep-2', 'deactivated')
  await put(storage, 'dep-3', 'failed')
  await put(storage, 'dep-4', 'deactivated')
  await put(storage, 'dep-5', 'running', source(), 'fetching')
  await put(storage, 'dep-6', 'queued')
  await put(storage, 'dep-7', 'queued', source('dep-4'))
  await put(storage, 'dep-8', 'queued')
  await put(storage, 'dep-9', 'running', source(), 'building')
  for (let number = 1; number <= 10; number++) await keep(storage, `dep-${number}`)

  await removeFormerArchives({ storage, logger: silentLogger })

  const left = await storage.archives.ids()
  assert.deepEqual(left.sort(), ['dep-10', 'dep-4', 'dep-5', 'dep-6', 'dep-8'], 'dep-10 is being committed')
})

test('a deploy unpacks its own archive, or that of the deploy it refers to', async (t) => {
  const storage = await storageWithService(t)
  await keep(storage, 'dep-0', await packArchive({ zero: 'x'.repeat(1536) }))
  await keep(storage, 'dep-1', await packArchive({ one: '1' }))
  await keep(storage, 'dep-2', await packArchive({ two: 'x'.repeat(3 * 512 * 1024), three: '' }))

  const fetched = await fetch(storage, 'dep-2')
  const named = await fetch(storage, 'dep-3', source('dep-1'))

  assert.deepEqual(fetched, { found: ['three', 'two'], said: ['unpacked the archive: 2 entries, 1.5 MiB'] })
  assert.deepEqual(named, { found: ['one'], said: ['unpacked the archive: 1 entry, 1 B'] })
  const { said } = await fetch(storage, 'dep-4', source('dep-0'))
  assert.deepEqual(said, ['unpacked the archive: 1 entry, 1.5 KiB'])
})

test('a missing archive fails the deploy, with the deploy it belonged to', async (t) => {
  await assert.rejects(fetch(await storageWithService(t), 'dep-2', source('dep-1')), {
    code: 'source_not_found',
    message: 'the archive that was uploaded with dep-1 is gone',
  })
})

test('a single top folder is kept if a path setting starts with it, else logged', async (t) => {
  const storage = await storageWithService(t)
  await keep(storage, 'dep-1', await packArchive({ 'app/public/index.html': 'x', 'app/web/Dockerfile': 'y' }))
  await keep(storage, 'dep-2', await packArchive({ 'app/public/index.html': 'x', 'app/Dockerfile': 'y' }))
  const looks = async (id: string, settings: Partial<ServiceSettings>) => {
    const { found, said } = await fetch(storage, 'dep-9', source(id), settings)
    const isReported = said.includes("left out the single folder 'app' at the top of the archive")
    assert.equal(isReported, !found.includes('app'), JSON.stringify(settings))
    return found.includes('app') ? 'kept' : 'left out'
  }

  assert.equal(await looks('dep-1', {}), 'left out')
  assert.equal(await looks('dep-1', { root_dir: 'app' }), 'kept')
  assert.equal(await looks('dep-1', { root_dir: 'web', publish_dir: 'app' }), 'left out')
  assert.equal(await looks('dep-1', { publish_dir: 'app/public' }), 'kept')
  assert.equal(await looks('dep-1', { publish_dir: 'public' }), 'left out')
  assert.equal(await looks('dep-1', { dockerfile_path: 'app/web/Dockerfile', publish_dir: 'public' }), 'kept')
  assert.equal(await looks('dep-1', { root_dir: 'nowhere' }), 'left out')
  assert.equal(await looks('dep-2', { publish_dir: 'app/public' }), 'left out', 'it is a path of the image')
})

test('a service with a damaged row keeps its archives; other archives are still removed', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await temporaryStorage(t, directory)
  await first.services.create(serviceRow({ archive_deploy_id: 'dep-2' }))
  await first.services.create(serviceRow({ id: 'svc-2', name: 'blog', archive_deploy_id: 'dep-4' }))
  for (const id of ['dep-1', 'dep-2']) await put(first, id, 'deactivated')
  for (const id of ['dep-3', 'dep-4']) {
    const transition = transitionOf({ id, service_id: 'svc-2', final: true }, { status: 'deactivated' })
    await first.actors.create({ ...transition, record: { ...transition.record, source: source() } })
  }
  for (let number = 1; number <= 4; number++) await keep(first, `dep-${number}`)
  await first.close()
  await flipBit(directory, 'services', 'svc-1')
  const storage = await temporaryStorage(t, directory)

  await removeFormerArchives({ storage, logger: silentLogger })

  assert.deepEqual((await storage.archives.ids()).sort(), ['dep-1', 'dep-2', 'dep-4'])
})
