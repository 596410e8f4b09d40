// Image volumes in the trash give way, the oldest first: to newer ones, and to a deploy on a full disk.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { catalogue } from '../../../machines/index.ts'
import { ensureVolume, findVolume, removeVolume } from '../../../src/docker/containers/volumes.ts'
import { limitImageVolumes, makeRoom } from '../../../src/effects/disk/image-volumes.ts'
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
  const isThere = async (index: number) =>
    (await findVolume(engine, owner, `${owner.prefix}-${ids[index]}`)) !== null
  // On the disk of the volumes.
  const { DockerRootDir: dataDir } = await engine.docker.info()
  return { ports, ids, remaining, paths, isThere, dataDir }
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

test('on a full disk all image volumes go, the oldest first, and on others none', async (t) => {
  const { ports, remaining, paths, isThere, dataDir } = await openTrash(t)
  const withRoom = (minFreeDiskMb: number) => ({ ...ports, settings: { dataDir, minFreeDiskMb } })
  const { signal } = new AbortController()

  await makeRoom(withRoom(1), signal)
  assert.deepEqual(remaining(), [0, 1, 2, 3])
  await assert.rejects(makeRoom(withRoom(1_000_000_000), signal), { code: 'insufficient_storage' })

  assert.deepEqual(remaining(), [0])
  assert.deepEqual(paths(), ['/a', '/b', '/c'])
  assert.deepEqual([await isThere(0), await isThere(1)], [true, false])
})
