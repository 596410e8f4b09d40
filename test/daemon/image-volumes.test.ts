// What instances write to the VOLUME paths of their image, on a real engine: changed data goes to the trash
// with its instance, and becomes the disk of the service again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Body } from '../support/daemon/api.ts'
import { openDocker } from '../support/daemon/jobs.ts'
import { dockerfile, fetchPage, finishedDeploy, logLines, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { long } from '../support/system/drill-size.ts'

const suite = daemonSuite()
const call = (method: string, path: string, body?: object) => suite.api.call(method, path, body)
const trashOf = async (service: string): Promise<Body[]> =>
  (await suite.api.get('/trash')).filter(({ service_name }: Body) => service_name === service)
const kept = (service: string, count: number) =>
  until(`${count} entries of ${service} in the trash`, async () => {
    const entries = await trashOf(service)
    return entries.length === count && entries.every(({ status }) => status === 'kept') && entries
  })
const withVolume = async () => ({
  Dockerfile: await dockerfile('RUN mkdir /data && echo given > /data/given', 'VOLUME /data'),
})
/** The volumes that Docker created for the VOLUME paths of the images of a service. */
async function imageVolumesOf(service: string): Promise<string[]> {
  const filters = { label: ['berth.kind=image-volume', `berth.service=${service}`] }
  const { Volumes } = await (await openDocker()).listVolumes({ filters })
  return (Volumes ?? []).map(({ Name }) => Name).sort()
}
/** Each start of an instance writes a line of its own. */
const writing = 'cd /data; hostname >> names; exec httpd -f -p $PORT'
const reading = 'cd /data; exec httpd -f -p $PORT'

test('changed data of an instance goes to the trash, and is restored as the disk', async (t) => {
  const settings = { start_command: writing }
  const { name, first } = await createService(t, suite.api, await withVolume(), settings)
  assert.deepEqual(first.warnings, [{ code: 'volume_without_disk', path: '/data' }])
  const log = (await logLines(suite.api, first.id)).join('\n')
  assert.match(log, /keeps data in \/data \(VOLUME\)[\s\S]*berth update \S+ --disk \/data/)
  const deploy = async () => {
    const { id } = await suite.api.post(`/services/${name}/deploys`, {})
    const { status, warnings } = await finishedDeploy(suite.api, id)
    return [status, warnings.length]
  }
  const written = await fetchPage(suite.api, name, '/names')
  assert.deepEqual(await deploy(), ['live', 1])

  const [entry] = await kept(name, 1)
  assert.deepEqual([entry!.kind, entry!.mount_path], ['disk', '/data'])
  assert.notEqual(await fetchPage(suite.api, name, '/names'), written)

  await suite.daemon.kill()
  await suite.daemon.start()
  await kept(name, 1)
  assert.equal((await call('POST', `/trash/${entry!.id}/restore`, {})).status, 200)
  const service = await suite.api.get(`/services/${name}`)
  assert.equal(service.disk_mount_path, '/data')
  assert.deepEqual(await deploy(), ['live', 0])
  assert.deepEqual(await deploy(), ['live', 0])
  assert.ok((await fetchPage(suite.api, name, '/names')).startsWith(written))
  assert.equal((await fetchPage(suite.api, name, '/given')).trim(), 'given')
  const disks = (await suite.api.get('/disks')).filter(({ service_name }: Body) => service_name === name)
  assert.deepEqual(
    disks.map(({ name: disk, kept: isKept }: Body) => [disk, isKept]),
    [[entry!.name, false]],
  )
  // The version before it had a volume of its own.
  const [other] = await kept(name, 1)
  const refused = await call('POST', `/trash/${other!.id}/restore`, {})
  assert.deepEqual([refused.status, refused.body.code], [409, 'conflict'])

  assert.equal((await call('DELETE', `/services/${name}`)).status, 204)
  await until('its end', async () => (await call('GET', `/services/${name}`)).status === 404)
  const listed: Body[] = await suite.api.get('/disks')
  assert.deepEqual(
    listed.filter(({ service_name }) => service_name === name).map((disk) => [disk.name, disk.kept]),
    [[entry!.name, true]],
  )
})

long('data that equals that of the image is removed with the instance', async (t) => {
  const settings = { start_command: reading }
  const { name, request } = await createService(t, suite.api, await withVolume(), settings)
  assert.equal((await imageVolumesOf(name)).length, 1)
  assert.equal((await finishedDeploy(suite.api, (await request()).id)).status, 'live')
  assert.equal((await call('POST', `/services/${name}/suspend`)).status, 200)

  await until('its volumes to be gone', async () => (await imageVolumesOf(name)).length === 0)
  assert.deepEqual(await trashOf(name), [])
})

long('scale and suspend keep changed data, and only that', async (t) => {
  const lines = ['RUN mkdir /data /other && echo x > /other/x', 'VOLUME /data', 'VOLUME /other/']
  const files = { Dockerfile: await dockerfile(...lines) }
  const { name } = await createService(t, suite.api, files, { start_command: writing, instances: 2 })
  assert.equal((await imageVolumesOf(name)).length, 4)
  await suite.api.post(`/services/${name}/scale`, { instances: 1 })
  const [first] = await kept(name, 1)
  assert.equal((await call('POST', `/services/${name}/suspend`)).status, 200)
  const entries = await kept(name, 2)

  assert.deepEqual(
    entries.map(({ mount_path }) => mount_path),
    ['/data', '/data'],
  )
  assert.ok(entries.some(({ id }) => id === first!.id))
  const disks = entries.map((entry) => entry.name).sort()
  await until('the other volumes to be gone', async () =>
    isDeepStrictEqual(await imageVolumesOf(name), disks),
  )
})

long('data is in the trash once, wherever the daemon is killed', async (t) => {
  const { name } = await createService(t, suite.api, await withVolume(), { start_command: writing })
  for (const [index, afterMs] of [0, 20, 60, 150, 400].entries()) {
    assert.equal((await call('POST', `/services/${name}/suspend`)).status, 200)
    await sleep(afterMs)
    await suite.daemon.kill()
    await suite.daemon.start()
    const entries = await kept(name, Math.min(index + 1, 3))
    assert.equal(new Set(entries.map((entry) => entry.name)).size, entries.length)
    await suite.api.post(`/services/${name}/resume`, {})
    await until('it to serve', async () => (await fetchPage(suite.api, name, '/names')) !== '')
  }
  await until('three volumes and that of the instance', async () => (await imageVolumesOf(name)).length === 4)
})

long('data of a deleted service is restored as a disk without a service, and can be deleted', async (t) => {
  const { id, name } = await createService(t, suite.api, await withVolume(), { start_command: writing })
  assert.equal((await call('DELETE', `/services/${name}`)).status, 204)
  await until('its end', async () => (await call('GET', `/services/${name}`)).status === 404)
  const [entry] = await kept(name, 1)

  assert.equal((await call('POST', `/trash/${entry!.id}/restore`, {})).status, 200)

  const disk = async () =>
    (await suite.api.get('/disks')).find(({ service_name }: Body) => service_name === name)
  assert.deepEqual(await disk(), { name: entry!.name, service_id: id, service_name: name, kept: true })
  assert.equal((await call('DELETE', `/disks/${entry!.name}?purge=true`)).status, 204)
  await until('the volume to be gone', async () => (await imageVolumesOf(name)).length === 0)
  assert.equal(await disk(), undefined)
})

long('the newest three of a path stay in the trash, and those of a deleted service', async (t) => {
  const settings = { start_command: writing }
  const { name, request } = await createService(t, suite.api, await withVolume(), settings)
  const deploy = async () =>
    assert.equal((await finishedDeploy(suite.api, (await request()).id)).status, 'live')
  await deploy()
  const [oldest] = await kept(name, 1)
  for (const count of [2, 3]) {
    await deploy()
    await kept(name, count)
  }
  const deletedAt = new Date().toISOString()
  assert.equal((await call('DELETE', `/services/${name}`)).status, 204)
  await until('its end', async () => (await call('GET', `/services/${name}`)).status === 404)

  const entries = await kept(name, 3)
  assert.ok(entries[0]!.deleted_at >= deletedAt, JSON.stringify(entries))
  assert.ok(!entries.some(({ id }) => id === oldest!.id))
})
