// Uploaded archives on a real daemon: from a .tar.gz to a served page, and what remains on disk.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type ArchiveEntry, packArchive, packEntries } from '../support/archive/archive.ts'
import type { Body } from '../support/daemon/api.ts'
import { fetchPage, finishedDeploy, logLines, pageApp, until } from '../support/daemon/service.ts'
import { daemonSuite } from '../support/daemon/suite.ts'
import { siteServerImage } from '../support/docker/server-images.ts'
import { long } from '../support/system/drill-size.ts'

const suite = daemonSuite({ args: [`--static-image=${await siteServerImage()}`] })
const names = (folder: string) => readdirSync(join(suite.daemon.dataDir, folder)).sort()
let count = 0

/** A service that waits for its first upload. */
async function createUploaded(settings: object = {}) {
  const { api } = suite
  const name = `up-${process.pid}-${++count}`
  const { id } = await api.post('/services', { name, drain_seconds: 0, ...settings })
  const upload = (archive: Buffer, query = ''): Promise<Body> =>
    api.post(`/services/${name}/deploys/upload${query}`, archive)
  const deploy = async (archive: Buffer) => finishedDeploy(api, (await upload(archive)).id)
  return { api, name, id, upload, deploy }
}

/** The app inside a single top-level folder, as in most archives. */
async function appArchive(text: string, more: ArchiveEntry[] = []): Promise<Buffer> {
  const files = Object.entries(await pageApp(text)).map(([path, content]) => ({
    name: `app-1/${path}`,
    content,
  }))
  return packEntries([...files, ...more])
}

test('an uploaded archive becomes a live container, and can be deployed again', async () => {
  const { api, name, deploy } = await createUploaded()

  const first = await deploy(await appArchive('one'))
  const log = await logLines(api, first.id)
  const again = await finishedDeploy(api, (await api.post(`/services/${name}/deploys`)).id)

  assert.deepEqual([first.status, first.trigger, first.source.kind], ['live', 'upload', 'archive'])
  assert.deepEqual([first.commit_sha, first.commit_message], [null, null])
  assert.ok(log.includes("left out the single folder 'app-1' at the top of the archive"), log.join('\n'))
  assert.match(log.join('\n'), /^unpacked the archive: 3 entries, \d+(\.\d KiB| B)$/m)
  assert.deepEqual([again.status, again.trigger, again.source.deploy_id], ['live', 'manual', first.id])
  assert.equal(await fetchPage(api, name), 'one')
  assert.ok(names('archives').includes(`${first.id}.tar.gz`))
})

long('the next upload replaces the previous one, also on disk', async () => {
  const { api, name, deploy, upload } = await createUploaded()
  const first = await deploy(await appArchive('one'))

  const { id } = await upload(await packArchive(await pageApp('two', `RUN sleep 8 # ${randomUUID()}`)))
  await until('the build', async () => (await api.get(`/deploys/${id}`)).phase === 'building')
  // Queued behind that build, so it is not unpacked.
  const third = await upload(await appArchive('three'))
  await api.post(`/deploys/${third.id}/cancel`)
  const second = await finishedDeploy(api, id)

  assert.equal(second.status, 'live')
  assert.equal(await fetchPage(api, name), 'two')
  const isRetained = ({ id }: Body) => names('archives').includes(`${id}.tar.gz`)
  assert.ok(!isRetained(first))
  assert.ok(isRetained(second), 'the third is not unpacked yet')
  assert.equal((await finishedDeploy(api, (await api.post(`/services/${name}/deploys`)).id)).status, 'live')
  assert.equal(await fetchPage(api, name), 'three')
  assert.deepEqual([first, second, third].map(isRetained), [false, false, true])
})

test('an archive with a link that points out fails, and the old version keeps serving', async () => {
  const { api, name, deploy } = await createUploaded()
  await deploy(await appArchive('one'))
  const app = await pageApp('two')
  const evil: ArchiveEntry[] = [
    { name: 'www/index.html', content: app['www/index.html']! },
    { name: 'Dockerfile', type: 'symlink', linkname: '/etc/passwd' },
  ]

  const failed = await deploy(await packEntries(evil))
  const cut = await deploy((await packArchive(app)).subarray(0, 120))

  assert.deepEqual([failed.status, failed.phase], ['failed', 'fetching'])
  assert.equal(failed.error, "'Dockerfile' is a link that points out of the tree ('/etc/passwd')")
  assert.deepEqual([cut.status, cut.phase], ['failed', 'fetching'])
  assert.match(cut.error, /the archive is cut off/)
  assert.equal(await fetchPage(api, name), 'one')
  await until('the cleanup', async () => names('work').length === 0)
})

long('a broken upload is not deployed again: the last valid one is', async () => {
  const { api, name, deploy } = await createUploaded()
  const again = () => api.post(`/services/${name}/deploys`)
  const archive = await appArchive('one')
  const broken = archive.subarray(0, archive.length / 2)

  assert.equal((await deploy(broken)).status, 'failed')
  assert.equal((await api.call('POST', `/services/${name}/deploys`)).status, 409)
  const sound = await deploy(archive)
  const failed = await deploy(broken)
  const repeated = await finishedDeploy(api, (await again()).id)

  assert.match(failed.error, /the archive is cut off/)
  assert.deepEqual([repeated.status, repeated.source.deploy_id], ['live', sound.id])
  assert.equal(await fetchPage(api, name), 'one')
  await until('the broken archive to go', async () => !names('archives').includes(`${failed.id}.tar.gz`))
})

test('an archive that contains only the publish_dir of a static site is served', async () => {
  const { api, name, deploy } = await createUploaded({ type: 'static_site', publish_dir: 'public' })

  const { status, error } = await deploy(await packArchive({ 'public/index.html': 'Hello' }))

  assert.deepEqual([status, error], ['live', null])
  assert.equal(await fetchPage(api, name), 'Hello')
})

long('a daemon killed while it unpacks starts over, and the deploy goes live', async () => {
  const { daemon } = suite
  const { name, upload } = await createUploaded()
  const ballast = Array.from({ length: 40_000 }, (_, index) => ({
    name: `app-1/ballast/${index}`,
    content: 'x',
  }))
  const { id } = await upload(
    await appArchive('one', [{ name: 'app-1/.dockerignore', content: 'ballast' }, ...ballast]),
  )
  const isUnpacking = async () =>
    readdirSync(join(daemon.dataDir, 'work', id, 'source.part/app-1/ballast')).length > 500
  await until('it to unpack', isUnpacking)

  await daemon.kill()
  assert.ok(readdirSync(join(daemon.dataDir, 'work', id)).includes('source.part'))
  await daemon.start()
  const deploy = await finishedDeploy(suite.api, id)

  assert.deepEqual([deploy.status, deploy.error], ['live', null])
  const log = await logLines(suite.api, id)
  assert.ok(log.includes('fetching starts again: the daemon was restarted'), log.join('\n'))
  assert.match(log.join('\n'), /^unpacked the archive: 40004 entries, \d+(\.\d)? KiB$/m)
  assert.equal(await fetchPage(suite.api, name), 'one')
  assert.deepEqual(names('work'), [])
})

long('deleting a service deletes its archive', async () => {
  const { api, name, deploy } = await createUploaded()
  const { id } = await deploy(await appArchive('one'))
  assert.ok(names('archives').includes(`${id}.tar.gz`))

  assert.equal((await api.call('DELETE', `/services/${name}`)).status, 204)

  await until('the service to go', async () => (await api.call('GET', `/services/${name}`)).status === 404)
  assert.ok(!names('archives').includes(`${id}.tar.gz`))
})
