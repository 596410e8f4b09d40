// Services with a disk: their data is retained, and two versions never use it at the same time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Body } from '../support/api.ts'
import { findLeftovers } from '../support/leftovers.ts'
import { dockerfile, fetchPage, finishedDeploy, until } from '../support/service.ts'
import { createService, daemonSuite } from '../support/suite.ts'

const suite = daemonSuite()

test('a service with a disk keeps its data across deploys, and never runs two versions on it', async (t) => {
  const { api, daemon } = suite
  const command =
    'cd /data; [ ! -e lock ] || touch shared; touch lock; echo x >> count; ' +
    'trap "rm lock; exit 0" TERM; httpd -f -p $PORT & wait'
  const files = { Dockerfile: await dockerfile(), 'a.txt': '1' }
  const settings = { disk_mount_path: '/data', start_command: command }
  const { name, id, deploy } = await createService(t, api, files, settings)
  const next = await deploy({ 'a.txt': '2' })
  assert.equal(next.status, 'live', next.error)
  assert.equal(await fetchPage(api, name, '/count'), 'x\nx\n')
  assert.match(await fetchPage(api, name, '/shared'), /404/)

  const failed = await deploy({ Dockerfile: await dockerfile('ENTRYPOINT ["false"]'), 'a.txt': '3' })
  assert.equal(failed.status, 'live', "the start command is the service's own")
  const disk = { name: `${daemon.prefix}-${id}`, service_id: id, service_name: name }
  const disks = async () => (await api.get('/disks')).filter(({ service_id }: Body) => service_id === id)
  assert.deepEqual(await disks(), [{ ...disk, kept: false }])
  assert.equal((await api.call('DELETE', `/services/${name}`)).status, 204)
  await until('its end', async () => (await api.call('GET', `/services/${name}`)).status === 404)
  assert.deepEqual(
    (await findLeftovers(daemon.prefix)).volumes.filter((volume) => volume.includes(id)),
    [disk.name],
  )
  assert.deepEqual(await disks(), [{ ...disk, kept: true }])
})

test('a failed version releases the disk when it has stopped; the previous one serves again', async (t) => {
  const { api } = suite
  const enter = 'cd /data; [ ! -e lock ] || touch shared; touch lock'
  const serving = `${enter}; echo x >> count; trap "rm lock; exit 0" TERM; httpd -f -p $PORT & wait`
  const silent = `${enter}; trap "sleep 3; rm lock; exit 0" TERM; sleep 1000 & wait`
  const settings = { disk_mount_path: '/data', start_command: serving }
  const { name, first, request } = await createService(t, api, { Dockerfile: await dockerfile() }, settings)
  const changes = { start_command: silent, health_check_timeout_seconds: 2 }
  assert.equal((await api.call('PATCH', `/services/${name}`, changes)).status, 200)

  const failed = await finishedDeploy(api, (await request()).id)

  assert.deepEqual([failed.status, failed.phase], ['failed', 'checking'])
  await until('the former', async () => (await fetchPage(api, name, '/count')) === 'x\nx\n')
  assert.match(await fetchPage(api, name, '/shared'), /404/)
  assert.equal((await api.get(`/services/${name}`)).live_deploy_id, first.id)
})

test('an image that runs as another user writes to its new disk', async (t) => {
  const files = { Dockerfile: await dockerfile('USER 1000:1000') }
  const command = 'echo written > /data/file; exec httpd -f -p $PORT -h /data'
  const { name, first } = await createService(t, suite.api, files, {
    disk_mount_path: '/data',
    start_command: command,
  })

  assert.equal(first.status, 'live', first.error)
  assert.equal((await fetchPage(suite.api, name, '/file')).trim(), 'written')
})
