// Services with a disk: their data is retained, and two versions never use it at the same time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Api, Body } from '../support/daemon/api.ts'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { dockerfile, fetchPage, finishedDeploy, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { siteServerImage } from '../support/docker/server-images.ts'
import { long } from '../support/system/drill-size.ts'

const suite = daemonSuite({ args: [`--static-image=${await siteServerImage()}`] })

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

  const heir = await createService(t, api, files, { ...settings, kept_disk: disk.name })
  assert.equal(await fetchPage(api, heir.name, '/count'), 'x\nx\nx\nx\n')
  const second = { name: `${name}-2`, kept_disk: disk.name }
  const refused = await api.call('POST', '/services', { ...second, disk_mount_path: '/data' })
  assert.deepEqual([refused.status, refused.body.code], [409, 'in_use'])
  assert.equal((await api.call('POST', '/services', second)).body.errors?.[0].path, 'kept_disk')
  assert.equal((await api.call('DELETE', `/disks/${disk.name}`)).body.code, 'in_use')

  await api.call('DELETE', `/services/${heir.name}?delete_disk=true`)
  await until('its end', async () => (await api.call('GET', `/services/${heir.name}`)).status === 404)
  const named = async (path: string) =>
    (await api.get(path)).filter((one: Body) => one.name === disk.name || one.disk === disk.name)
  assert.deepEqual(await named('/disks'), [])
  const late = await api.call('POST', '/services', { ...second, disk_mount_path: '/data' })
  assert.ok([404, 409].includes(late.status), `a disk in the trash is taken: ${late.status}`)
  assert.equal((await named('/trash')).length, 1)
})

long('a failed version releases the disk when it has stopped; the previous one serves again', async (t) => {
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

long('an image that runs as another user writes to its new disk', async (t) => {
  const files = { Dockerfile: await dockerfile('USER 1000:1000') }
  const command = 'echo written > /data/file; exec httpd -f -p $PORT -h /data'
  const { name, first } = await createService(t, suite.api, files, {
    disk_mount_path: '/data',
    start_command: command,
  })

  assert.equal(first.status, 'live', first.error)
  assert.equal((await fetchPage(suite.api, name, '/file')).trim(), 'written')
})

/** The image keeps a file of root in the folder of the disk, which Docker copies into the new disk. */
const ownedByRoot = () => dockerfile('RUN mkdir /data && touch /data/file', 'USER 1000:1000')

long('a failure on a path of the disk names its owner, the user, and the command that helps', async (t) => {
  const { api } = suite
  const settings = { disk_mount_path: '/data', start_command: 'echo x >> /data/file && exec sleep 99' }
  const { name, first } = await createService(t, api, { Dockerfile: await ownedByRoot() }, settings)

  const cause = '/data/file of its disk belongs to root (0:0), and the image runs as 1000:1000'
  assert.equal(first.error, `the instance exited with code 1: ${cause}`)
  assert.equal(first.error_code, 'instance_failed')
  const facts = { path: '/data/file', disk: '/data', owner: '0:0', user: '1000:1000' }
  assert.deepEqual(first.error_details, { reason: 'disk_owner', ...facts })
  const { reason, commands } = await api.get(`/deploys/${first.id}/why`)
  assert.equal(reason, first.error)
  assert.deepEqual(commands, [`berth disks chown ${name} /data 1000:1000`, `berth deploy ${name}`])
})

async function chowned(api: Api, disk: string, owner?: string): Promise<Body> {
  const { status, body } = await api.call(
    'POST',
    `/disks/${disk}/chown`,
    owner === undefined ? {} : { owner },
  )
  assert.equal(status, 202, JSON.stringify(body))
  return until('the new owner', async () => {
    const chown = await api.get(`/disks/${disk}/chown`)
    return chown.id === body.id && chown.status !== 'running' && chown
  })
}

long('a disk that its image may not use works after its change of owner', async (t) => {
  const { api, daemon } = suite
  const command = 'echo x >> /data/file && exec httpd -f -p $PORT -h /data'
  const settings = { disk_mount_path: '/data', start_command: command }
  const created = await createService(t, api, { Dockerfile: await ownedByRoot() }, settings)
  const { id, name, request } = created
  const disk = `${daemon.prefix}-${id}`
  assert.equal(created.first.status, 'failed')
  // No live image knows a name or a default.
  for (const body of [{}, { owner: 'node' }]) {
    const { status, body: problem } = await api.call('POST', `/disks/${disk}/chown`, body)
    assert.deepEqual([status, problem.code], [409, 'conflict'])
    assert.equal(problem.hint, `berth disks chown ${name} /data UID:GID`)
  }

  const { created_at: _, finished_at: __, revision: ___, ...chown } = await chowned(api, disk, '1000:1000')

  assert.deepEqual(chown, {
    id: chown.id,
    service_id: id,
    disk,
    owner: '1000:1000',
    uid: 1000,
    gid: 1000,
    status: 'succeeded',
    error: null,
    error_code: null,
    error_details: null,
    by: { kind: 'token', id: 'server', name: 'server token' },
  })
  const history: Body[] = await api.get(`/disks/${disk}/chown/history`)
  assert.deepEqual(
    history.map(({ state }) => state),
    ['running', 'succeeded'],
  )
  assert.deepEqual(history[0]!.by, chown.by)
  const second = await finishedDeploy(api, (await request()).id)
  assert.equal(second.status, 'live', second.error)
  assert.equal(await fetchPage(api, name, '/file'), 'x\n')
  assert.deepEqual(
    (await findLeftovers(daemon.prefix)).containers.filter((one) => one.includes('-tool-')),
    [],
  )
})

long('the owner is that of the live image unless it is named, and links are not followed', async (t) => {
  const { api, daemon } = suite
  const files = {
    Dockerfile: await dockerfile(
      'RUN mkdir -p /etc && echo app:x:1234:2345::/: > /etc/passwd && echo staff:x:50: > /etc/group',
      'USER app',
    ),
  }
  const make = 'mkdir -p /data/a/b; touch /data/a/b/c; ln -sf /etc/passwd /data/link; ln -sf / /data/root'
  const look = 'while true; do stat -c %u:%g /data /data/a/b/c /data/link > /data/new; sleep 0.1; done'
  const listen = 'httpd -f -p $PORT -h /data'
  const settings = { disk_mount_path: '/data', start_command: `${make}; (${look}) & exec ${listen}` }
  const { id, name, first } = await createService(t, api, files, settings)
  assert.equal(first.status, 'live', first.error)
  const disk = `${daemon.prefix}-${id}`

  const byNames = await chowned(api, disk, 'app:staff')
  assert.deepEqual([byNames.uid, byNames.gid], [1234, 50])
  await until('its files', async () => (await fetchPage(api, name, '/new')) === '1234:50\n'.repeat(3))
  const byDefault = await chowned(api, disk)
  assert.deepEqual([byDefault.owner, byDefault.uid, byDefault.gid], [null, 1234, 2345])
  await until('its files', async () => (await fetchPage(api, name, '/new')) === '1234:2345\n'.repeat(3))

  const unknown = await chowned(api, disk, 'unknown-user')
  assert.deepEqual([unknown.status, unknown.error_code], ['failed', 'invalid_request'])
  assert.match(unknown.error, /has no user or group 'unknown-user'/)
  assert.equal(unknown.hint, `try again: berth disks chown ${name} ${disk} UID:GID`)
  for (const owner of ['../x', '1:2:3', 'a b', '-R', '4294967295', '$(id)']) {
    assert.equal((await api.call('POST', `/disks/${disk}/chown`, { owner })).status, 400, owner)
  }
  assert.equal((await api.call('POST', '/disks/none/chown', { owner: '1' })).status, 404)
})

test('a change of owner that the daemon did not survive is done by the next one', async (t) => {
  const { daemon } = suite
  const settings = { disk_mount_path: '/data', start_command: 'exec httpd -f -p $PORT -h /data' }
  const { id, name } = await createService(t, suite.api, { Dockerfile: await dockerfile() }, settings)
  const disk = `${daemon.prefix}-${id}`
  await suite.api.call('POST', `/disks/${disk}/chown`, { owner: '7:8' })
  assert.equal((await suite.api.call('POST', `/disks/${disk}/chown`, { owner: '9:9' })).status, 409)
  await daemon.kill()
  await daemon.start()

  const chown = await until('the new owner', async () => {
    const now = await suite.api.get(`/disks/${disk}/chown`)
    return now.status !== 'running' && now
  })
  assert.deepEqual([chown.status, chown.uid, chown.gid], ['succeeded', 7, 8], chown.error)
  assert.deepEqual(
    (await findLeftovers(daemon.prefix)).containers.filter((one) => one.includes('-tool-')),
    [],
  )
  assert.equal((await suite.api.call('DELETE', `/services/${name}`)).status, 204)
  await until('its end', async () => (await suite.api.call('GET', `/services/${name}`)).status === 404)
  const kept = await suite.api.call('POST', `/disks/${disk}/chown`, { owner: '1' })
  assert.deepEqual([kept.status, kept.body.code], [409, 'conflict'])
})
