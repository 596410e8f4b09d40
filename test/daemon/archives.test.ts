// Uploaded archives on a real daemon: from a .tar.gz to a served page, and what remains on disk.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type ArchiveEntry, packArchive, packEntries } from '../support/archive/archive.ts'
import type { Body } from '../support/daemon/api.ts'
import { fetchPage, finishedDeploy, logLines, pageApp, until } from '../support/daemon/service.ts'
import { daemonSuite } from '../support/daemon/suite.ts'
import { siteServerImage } from '../support/docker/server-images.ts'

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

test('an uploaded archive becomes a live container, deploys again, and goes with its service', async () => {
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

  assert.equal((await api.call('DELETE', `/services/${name}`)).status, 204)
  await until('the service to go', async () => (await api.call('GET', `/services/${name}`)).status === 404)
  assert.ok(!names('archives').includes(`${first.id}.tar.gz`))
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

test('an archive that contains only the publish_dir of a static site is served', async () => {
  const { api, name, deploy } = await createUploaded({ type: 'static_site', publish_dir: 'public' })

  const { status, error } = await deploy(await packArchive({ 'public/index.html': 'Hello' }))

  assert.deepEqual([status, error], ['live', null])
  assert.equal(await fetchPage(api, name), 'Hello')
})
