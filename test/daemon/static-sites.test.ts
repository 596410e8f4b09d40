// Static sites, from a repository to a served page: a folder of the source, or of a build's output.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openEngine } from '../../src/docker/engine/client.ts'
import { withoutMac } from '../../src/docker/engine/names.ts'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { dockerfile, fetchPage, finishedDeploy, logLines, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { ensureEngine } from '../support/docker/engine.ts'
import { siteServerImage } from '../support/docker/server-images.ts'
import { long } from '../support/system/drill-size.ts'

const suite = daemonSuite({ args: [`--static-image=${await siteServerImage()}`] })

const createSite = (t: TestContext, files: Record<string, string>, settings = {}) =>
  createService(t, suite.api, files, { type: 'static_site', ...settings })

/** The first deploy of a site that cannot be built; checks that nothing of it is left. */
async function deployAndFail(t: TestContext, files: Record<string, string>, settings = {}): Promise<string> {
  const { first } = await createSite(t, files, settings)
  assert.deepEqual([first.status, first.phase], ['failed', 'building'])
  await assertNothingLeft(first.id)
  return first.error
}

async function assertNothingLeft(id: string): Promise<void> {
  const historyOf = () => suite.api.get(`/deploys/${id}/history`)
  await until('the cleanup', async () => ['failed', 'canceled'].includes((await historyOf()).at(-1).state))
  assert.deepEqual((await listImages(id)).map(withoutMac), [])
}

async function listImages(id: string): Promise<string[]> {
  const { images } = await findLeftovers(suite.daemon.prefix)
  return images.filter((name) => name.includes(id))
}

/** Which of the paths exist in the live container. */
async function filesIn(service: string, paths: string[]): Promise<string[]> {
  const engine = openEngine(await ensureEngine())
  const { instances } = await suite.api.get(`/services/${service}/status`)
  const container = engine.docker.getContainer(instances[0].container_id)
  const isThere = (path: string) =>
    container.infoArchive({ path }).then(
      () => true,
      () => false,
    )
  const found = await Promise.all(paths.map(isThere))
  engine.close()
  return paths.filter((_, index) => found[index])
}

test('a folder of the source is served, without dotfiles and files in .dockerignore', async (t) => {
  const files = {
    'web/public/index.html': 'Hello',
    'web/public/app.js': 'run()',
    'web/public/drafts/one.html': 'a draft',
    'web/public/.env': 'KEY=value',
    'web/public/sub/.hidden': 'hidden',
    'web/public/.well-known/security.txt': 'Contact: a@b.c',
    'web/.dockerignore': '# not yet\npublic/drafts\n**/*.map\n',
    'web/public/app.js.map': '{}',
    'web/source.js': 'source',
  }
  const { name, first } = await createSite(t, files, { root_dir: 'web', publish_dir: 'public' })

  assert.equal(first.error, null)
  assert.deepEqual([first.status, first.port], ['live', 8080])
  assert.equal(await fetchPage(suite.api, name), 'Hello')
  assert.equal(await fetchPage(suite.api, name, '/.well-known/security.txt'), 'Contact: a@b.c')
  const kept = ['index.html', 'app.js', '.well-known/security.txt']
  const left = ['drafts', '.env', 'sub/.hidden', 'app.js.map', 'source.js', 'web', '.git', 'Dockerfile']
  const inSite = (path: string) => `/site/${path}`
  assert.deepEqual(await filesIn(name, [...kept, ...left].map(inSite)), kept.map(inSite))
  assert.ok((await logLines(suite.api, first.id)).includes('the site is public of the source'))
})

test("the site is extracted from the Dockerfile's image, and that image is removed", async (t) => {
  const Dockerfile = await dockerfile(
    'WORKDIR /app',
    'RUN mkdir -p "dist/my site" && echo Built > "dist/my site/index.html" && echo source > source.js',
  )
  const { name, first } = await createSite(t, { Dockerfile }, { publish_dir: 'dist/my site' })

  assert.equal(first.error, null)
  assert.equal(await fetchPage(suite.api, name), 'Built\n')
  assert.deepEqual(await filesIn(name, ['/site/index.html', '/site/source.js', '/app']), ['/site/index.html'])
  assert.deepEqual((await listImages(first.id)).map(withoutMac), [
    `${suite.daemon.prefix}/${name}:${first.id}`,
  ])
  assert.ok((await logLines(suite.api, first.id)).includes('the site is /app/dist/my site of the last stage'))
})

long('a single-page app serves every path, also in a rolled-back version', async (t) => {
  const { name, first } = await createSite(t, { 'index.html': 'App' }, { spa_fallback: true })
  assert.equal(await fetchPage(suite.api, name, '/users/1'), 'App')

  await suite.api.call('PATCH', `/services/${name}`, { spa_fallback: false })
  const { id } = await suite.api.post(`/services/${name}/deploys`)
  assert.equal((await finishedDeploy(suite.api, id)).status, 'live')

  assert.match(await fetchPage(suite.api, name, '/users/1'), /Not found/)
  const { id: rollbackId } = await suite.api.post(`/services/${name}/rollback`, { deploy_id: first.id })
  assert.equal((await finishedDeploy(suite.api, rollbackId)).status, 'live')
  assert.equal(await fetchPage(suite.api, name, '/users/1'), 'App')
})

long('a site that is not in the expected folder is reported with the setting to change', async (t) => {
  assert.match(await deployAndFail(t, { 'a.txt': '' }), /neither a Dockerfile nor an index\.html at its top$/)
  assert.match(
    await deployAndFail(t, { 'a.txt': '' }, { publish_dir: 'dist' }),
    /the publish dir dist is not in/,
  )
  assert.match(
    await deployAndFail(t, { dist: '' }, { publish_dir: 'dist' }),
    /the publish dir dist is not a folder/,
  )
  assert.equal(await deployAndFail(t, { web: '' }, { root_dir: 'web' }), 'the root dir web is not a folder')
  const app = { publish_dir: 'dist', spa_fallback: true }
  assert.match(
    await deployAndFail(t, { 'dist/a.js': '' }, app),
    /dist has no index\.html, which --spa-fallback needs/,
  )
  const ignored = { 'dist/index.html': '', '.dockerignore': 'dist' }
  assert.match(await deployAndFail(t, ignored, { publish_dir: 'dist' }), /dist is left out by \.dockerignore/)
  assert.match(
    await deployAndFail(t, { 'a*b/index.html': '' }, { publish_dir: 'a*b' }),
    /cannot be copied from/,
  )
})
