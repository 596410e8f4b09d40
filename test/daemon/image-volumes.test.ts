// What instances write to the VOLUME paths of their image, on a real engine: changed data goes to the trash
// with its instance, and becomes the disk of the service again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Body } from '../support/api.ts'
import { dockerfile, fetchPage, finishedDeploy, logLines, until } from '../support/service.ts'
import { createService, daemonSuite } from '../support/suite.ts'
import { anonymousVolumes } from '../support/volumes.ts'

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
})

test('data that equals that of the image is removed with the instance', async (t) => {
  const before = await anonymousVolumes()
  const settings = { start_command: reading }
  const { name, request } = await createService(t, suite.api, await withVolume(), settings)
  assert.equal((await finishedDeploy(suite.api, (await request()).id)).status, 'live')
  assert.equal((await call('POST', `/services/${name}/suspend`)).status, 200)

  await until('its volumes to be gone', async () => (await anonymousVolumes()).length === before.length)
  assert.deepEqual(await trashOf(name), [])
})

test('a version that never served keeps nothing', async (t) => {
  const before = await anonymousVolumes()
  const settings = { start_command: 'echo x > /data/x; sleep 2; exit 1', health_check_timeout_seconds: 10 }
  const { name, first } = await createService(t, suite.api, await withVolume(), settings)

  assert.equal(first.status, 'failed')
  await until('its volumes to be gone', async () => (await anonymousVolumes()).length === before.length)
  assert.deepEqual(await trashOf(name), [])
})

test('the newest three of a path stay in the trash, and those of a deleted service', async (t) => {
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
