// The disk of the host: how full it is, what is on it, and the share of volumes of images.
import assert, { deepEqual, equal, ok } from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { catalogue } from '../../../machines/index.ts'
import { ensureVolume, removeVolume } from '../../../src/docker/containers/volumes.ts'
import { guardDirectory } from '../../../src/effects/disk/disk.ts'
import { createDiskUsage } from '../../../src/effects/disk/disk-usage.ts'
import { limitImageVolumes } from '../../../src/effects/disk/image-volumes.ts'
import { type DiskRemovalPorts, diskRemovalEffects } from '../../../src/effects/disk-removal.ts'
import { Supervisor } from '../../../src/supervisor/supervisor.ts'
import { openDockerSite } from '../../support/docker/docker-site.ts'
import { standIn } from '../../support/effects/stand-in.ts'
import {
  instant as at,
  eventually,
  silentLogger,
  stopBeforeClose,
  temporaryStorage,
} from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'
import { fillDisk, smallDisk } from '../../support/system/small-disk.ts'

const skip = process.getuid?.() === 0 ? false : 'needs root, to mount a small disk'
const never = new AbortController().signal
const neededMb = 16

/** Starts work that ends only when it is canceled. */
function start(what: string, directory: string, minFreeDiskMb = neededMb) {
  const state = { outcome: 'running' }
  const work = (signal: AbortSignal) =>
    new Promise<void>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('ended by its signal')))
    })
  const settings = { dataDir: directory, minFreeDiskMb }
  guardDirectory({ settings }, { what, directory }, never, work).catch((error: Error & { code: string }) => {
    state.outcome = `${error.code}: ${error.message}`
  })
  return state
}

test('work that writes to a full disk is canceled with the path, the free and the needed space', {
  skip,
}, async (t) => {
  const disk = smallDisk(t, 64)
  const operation = start('a build', disk)
  const elsewhere = [start('a pull', smallDisk(t, 64)), start('a fetch', join(disk, 'absent'))]
  await wait(2500)
  assert.equal(operation.outcome, 'running')

  fillDisk(disk, neededMb - 4)

  await eventually('it to be canceled', () => operation.outcome !== 'running')
  const words = 'has 12 MiB free, a build needs 16 MiB (--min-free-disk)'
  assert.equal(operation.outcome, `insufficient_storage: canceled: ${disk} ${words}`)
  assert.deepEqual(
    elsewhere.map(({ outcome }) => outcome),
    ['running', 'running'],
  )
})

test('without a threshold nothing is watched', { skip }, async (t) => {
  const disk = smallDisk(t, 16)
  const operation = start('a build', disk, 0)
  fillDisk(disk)
  await wait(2500)
  assert.equal(operation.outcome, 'running')
})

const mebibyte = 1024 * 1024

function openUsage(t: TestContext, df: () => Promise<object>) {
  const dataDir = temporaryDirectory(t)
  const write = (folder: string, sizeMb: number) => {
    mkdirSync(join(dataDir, folder), { recursive: true })
    writeFileSync(join(dataDir, folder, 'file'), Buffer.alloc(sizeMb * mebibyte, 1))
  }
  const call = (_: string, ask: (signal: AbortSignal) => Promise<unknown>) =>
    ask(new AbortController().signal)
  const settings = { dataDir, backupDir: join(dataDir, 'elsewhere/backups') }
  const ports = standIn<Parameters<typeof createDiskUsage>[0]>({
    engine: { call, docker: { df } },
    settings,
    logger: silentLogger,
  })
  return { usage: createDiskUsage(ports), write }
}

const found = {
  LayersSize: 100,
  Containers: [{ SizeRw: 1 }, {}, { SizeRw: 2 }],
  Volumes: [{ UsageData: { Size: 10 } }, { UsageData: { Size: -1 } }, { UsageData: null }],
  BuildCache: [
    { Size: 7, Shared: false },
    { Size: 50, Shared: true },
  ],
}

test('the first request gets null immediately, later ones the sizes by category', async (t) => {
  let requested = 0
  const { usage, write } = openUsage(t, async () => {
    requested++
    return found
  })
  const sizes = { store: 1, logs: 2, 'runtime-logs/svc-1': 3, 'elsewhere/backups/shop': 4, archives: 5 }
  for (const [folder, sizeMb] of Object.entries({ ...sizes, restores: 6, 'work/dep-1/source': 7 }))
    write(folder, sizeMb)

  equal(usage(), null)
  await eventually('the figures', () => usage() !== null)

  const { data, docker } = usage()!
  const inMb = Object.entries(data).map(([name, bytes]) => [name, Math.floor(bytes / mebibyte)])
  deepEqual(Object.fromEntries(inMb), {
    store_bytes: 1,
    logs_bytes: 5,
    backups_bytes: 4,
    uploads_bytes: 11,
    checkouts_bytes: 7,
  })
  deepEqual(docker, { images_bytes: 100, containers_bytes: 3, volumes_bytes: 10, build_cache_bytes: 7 })
  equal(requested, 1, 'what is known is not counted again')
})

test('a slow engine is queried once, and an unresponsive one omits only its own sizes', async (t) => {
  let refuse = (_: Error) => {}
  let requested = 0
  const { usage } = openUsage(t, () => {
    requested++
    return new Promise((_, reject) => {
      refuse = reject
    })
  })
  for (let count = 0; count < 5; count++) equal(usage(), null)
  equal(requested, 1)

  refuse(new Error('gone'))

  await eventually('the figures', () => usage() !== null)
  equal(usage()!.docker, null)
  ok(usage()!.data.store_bytes >= 0)
})

/** The trash with a disk, and three volumes of images, the oldest first. */
async function openTrash(t: TestContext) {
  const { engine, owner } = await openDockerSite(t)
  const storage = await temporaryStorage(t)
  const catalogued = { 'disk-removal': catalogue['disk-removal'] }
  const supervisor = new Supervisor({ storage, catalogue: catalogued, logger: silentLogger })
  const warnings: Record<string, unknown>[] = []
  const logger = {
    ...silentLogger,
    warn: (fields: object | string) => void warnings.push({ ...Object(fields) }),
  }
  const engineReady = async () => ({})
  const parts = { storage, actors: supervisor, engine, owner, engineReady, logger }
  const ports = standIn<DiskRemovalPorts>(parts)
  supervisor.provide({ 'disk-removal': diskRemovalEffects(ports) })
  stopBeforeClose(t, storage, () => supervisor.stop(1000))
  const ids: string[] = []
  for (const mountPath of [undefined, '/a', '/b', '/c']) {
    const id = storage.ids.newId('dsk')
    const disk = `${owner.prefix}-${id}`
    await ensureVolume(engine, owner, disk)
    t.after(() => removeVolume(engine, owner, disk))
    const expiresAt = new Date(Date.now() + 1_000_000).toISOString()
    const input = { id, disk, serviceId: 'svc-1', serviceName: 'shop', expiresAt, at }
    await supervisor.spawn('disk-removal', id, mountPath ? { ...input, mountPath } : input)
    await eventually('its size', () => storage.actors.record(id)?.status === 'trashed')
    ids.push(id)
  }
  const remaining = () =>
    ids.filter((id) => storage.actors.record(id)?.status === 'trashed').map((id) => ids.indexOf(id))
  const paths = () => warnings.map(({ path }) => path)
  return { ports, ids, remaining, paths }
}

test('older image volumes give way to a large one, which stays, like disks of services', async (t) => {
  const { ports, ids, remaining, paths } = await openTrash(t)

  await limitImageVolumes(ports, { id: ids[3]!, sizeBytes: 1 })
  assert.deepEqual(remaining(), [0, 1, 2, 3])
  await limitImageVolumes(ports, { id: ids[3]!, sizeBytes: 2 ** 50 })

  await eventually('their end', () => remaining().length === 2)
  assert.deepEqual(remaining(), [0, 3])
  assert.deepEqual(paths(), ['/b', '/a'])
})
