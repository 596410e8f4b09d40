// Deleted disks on a real engine: in the trash with every file, restored unchanged, or purged.
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import Docker from 'dockerode'
import type { Body } from '../support/daemon/api.ts'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { dockerfile, fetchPage, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { ensureEngine } from '../support/docker/engine.ts'
import { baseImages } from '../support/docker/images.ts'

const suite = daemonSuite()
const call = (method: string, path: string, body?: object) => suite.api.call(method, path, body)
const disks = async () => (await suite.api.get('/disks')).map(({ name }: Body) => name) as string[]
const volumes = async () => (await findLeftovers(suite.daemon.prefix)).volumes
const entryOf = async (disk: string): Promise<Body | undefined> =>
  (await suite.api.get('/trash')).find(({ name }: Body) => name === disk)
const kept = (disk: string) =>
  until('the disk to be in the trash', async () => {
    const entry = await entryOf(disk)
    return entry?.status === 'kept' && entry
  })

async function serviceWithDisk(t: Parameters<typeof createService>[0]) {
  const { api, daemon } = suite
  const command = 'cd /data; mkdir -p deep; seq 5000 > deep/numbers; exec httpd -f -p $PORT'
  const settings = { disk_mount_path: '/data', start_command: command }
  const { name, id } = await createService(t, api, { Dockerfile: await dockerfile() }, settings)
  const numbers = await fetchPage(api, name, '/deep/numbers')
  return { id, name, disk: `${daemon.prefix}-${id}`, numbers }
}

/** A file of the volume, read by a container that mounts it. */
async function readFileIn(volume: string, path: string): Promise<string> {
  const docker = new Docker({ socketPath: (await ensureEngine()).replace('unix://', '') })
  const container = await docker.createContainer({
    Image: (await baseImages()).busybox,
    Cmd: ['cat', `/data/${path}`],
    HostConfig: { Binds: [`${volume}:/data:ro`] },
    Labels: { 'berth.test': suite.daemon.prefix },
  })
  try {
    const attached = await container.attach({ stream: true, stdout: true })
    const output = new PassThrough()
    container.modem.demuxStream(attached, output, output)
    attached.once('end', () => output.end())
    await container.start()
    return await text(output)
  } finally {
    await container.remove({ force: true })
  }
}

const gone = (name: string) =>
  until('the service to be gone', async () => (await call('GET', `/services/${name}`)).status === 404)

test('a deleted disk stays in the trash across a crash, and is restored with its files', async (t) => {
  const { disk, id, name, numbers } = await serviceWithDisk(t)
  const refused = await call('DELETE', `/disks/${disk}`)
  assert.deepEqual([refused.status, refused.body.code], [409, 'in_use'])

  assert.equal((await call('DELETE', `/services/${name}?delete_disk=true`)).status, 204)
  assert.equal((await entryOf(disk))?.service_name, name)
  await suite.daemon.kill()
  await suite.daemon.start()
  await gone(name)
  const entry = await kept(disk)

  assert.deepEqual([entry.kind, entry.service_name, entry.datastore_kind], ['disk', name, null])
  assert.ok(entry.size_bytes > 0, String(entry.size_bytes))
  assert.deepEqual(await disks(), [])
  assert.deepEqual((await call('POST', `/trash/${entry.id}/restore`, {})).body, {
    id: entry.id,
    kind: 'disk',
    name: disk,
  })
  assert.deepEqual((await suite.api.get('/disks'))[0], {
    name: disk,
    service_id: id,
    service_name: name,
    kept: true,
  })
  assert.ok(numbers.length > 20_000)
  assert.equal(await readFileIn(disk, 'deep/numbers'), numbers)

  assert.equal((await call('DELETE', `/disks/${disk}`)).status, 204)
  assert.equal((await call('DELETE', `/disks/${disk}`)).status, 204, 'it may be said twice')
  const again = await kept(disk)
  assert.notEqual(again.id, entry.id)
  assert.equal((await suite.api.get('/trash')).length, 1)
  assert.equal((await call('DELETE', `/disks/${disk}?purge=true`)).status, 204)
  await until('the volume to be gone', async () => !(await volumes()).includes(disk))
  assert.equal((await call('DELETE', `/disks/${disk}`)).status, 404)
  assert.deepEqual(await suite.api.get('/trash'), [])
})

test('a disk purged with its service is deleted', async (t) => {
  const { disk, name } = await serviceWithDisk(t)
  await call('DELETE', `/services/${name}?delete_disk=true&purge=true`)
  await gone(name)
  assert.ok(!(await volumes()).includes(disk))
  assert.equal(await entryOf(disk), undefined)
})
