// Which archives stay: the last one of each service, and what a deploy is about to unpack.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { DeploySource } from '../../machines/deploy-context.ts'
import { removeFormerArchives, unpackSource } from '../../src/effects/deploy/archive.ts'
import type { Host } from '../../src/effects/host.ts'
import type { Storage } from '../../storage/index.ts'
import { packArchive } from '../support/archive.ts'
import { temporaryDirectory } from '../support/directory.ts'
import { flipBit, serviceRow, transitionOf } from '../support/stored.ts'
import { silent, temporaryStorage } from '../support/supervised.ts'

const none = { repo_url: null, branch: null, commit: null, image: null, deploy_id: null }
const source = (deployId: string | null = null): DeploySource => ({
  ...none,
  kind: 'archive',
  deploy_id: deployId,
})

async function keep({ archives }: Storage, id: string, archive: Buffer = Buffer.from('x')): Promise<void> {
  const draft = archives.create()
  await draft.write([archive])
  await draft.keep(id)
}

/** A deploy of the service as it stands on record. */
async function put(
  { actors }: Storage,
  id: string,
  status: string,
  from: DeploySource = source(),
): Promise<void> {
  const transition = transitionOf({ id, final: status === 'deactivated' }, { status })
  await actors.create({ ...transition, record: { ...transition.record, source: from } })
}

const hostOf = (storage: Storage) =>
  ({ storage, settings: { dataDir: storage.directory, minFreeDiskMb: 0 } }) as unknown as Host
const signal = new AbortController().signal

test('a replaced archive goes, unless a deploy has yet to unpack it', async (t) => {
  const storage = await temporaryStorage(t)
  await storage.services.create(serviceRow({ archive_deploy_id: 'dep-8' }))
  await put(storage, 'dep-1', 'live')
  await put(storage, 'dep-2', 'deactivated')
  await put(storage, 'dep-3', 'failed')
  await put(storage, 'dep-4', 'deactivated')
  await put(storage, 'dep-5', 'running')
  await put(storage, 'dep-6', 'queued')
  await put(storage, 'dep-7', 'queued', source('dep-4'))
  await put(storage, 'dep-8', 'queued')
  for (let number = 1; number <= 9; number++) await keep(storage, `dep-${number}`)

  await removeFormerArchives({ storage, logger: silent })

  const left = await storage.archives.ids()
  assert.deepEqual(left.sort(), ['dep-4', 'dep-5', 'dep-6', 'dep-8', 'dep-9'], 'dep-9 is being committed')
})

test('a deploy unpacks the archive it came with, or that of the deploy it names', async (t) => {
  const storage = await temporaryStorage(t)
  await keep(storage, 'dep-1', await packArchive({ 'app/one': '1' }))
  await keep(storage, 'dep-2', await packArchive({ 'app/two': '22' }))
  const directory = join(storage.directory, 'work')
  const said: string[] = []
  const log = { say: (line: string) => said.push(line), write: () => {}, close: async () => {} }
  const contentOf = async (id: string, from: DeploySource) => {
    const found = await unpackSource(hostOf(storage), { id, source: from, directory }, log, signal)
    assert.deepEqual(found, { commitSha: null, commitMessage: null })
    return readdirSync(directory)
  }

  assert.deepEqual(await contentOf('dep-2', source()), ['two'])
  assert.deepEqual(await contentOf('dep-3', source('dep-1')), ['one'])
  assert.deepEqual(said, Array(2).fill('unpacked the archive: 1 entry, 0.0 MiB'))
})

test('an archive that is gone fails the deploy, and says whose it was', async (t) => {
  const storage = await temporaryStorage(t)
  const input = { id: 'dep-2', source: source('dep-1'), directory: join(storage.directory, 'work') }
  const log = { say: () => {}, write: () => {}, close: async () => {} }

  await assert.rejects(unpackSource(hostOf(storage), input, log, signal), {
    code: 'source_not_found',
    message: 'the archive that was uploaded with dep-1 is gone',
  })
})

test('a service whose row is damaged keeps its archives; those of others go all the same', async (t) => {
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

  await removeFormerArchives({ storage, logger: silent })

  assert.deepEqual((await storage.archives.ids()).sort(), ['dep-1', 'dep-2', 'dep-4'])
})
