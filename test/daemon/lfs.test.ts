// Files of Git LFS in deploys: what serves is the content, and a wrong one fails the deploy.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fetchPage, finishedDeploy, logLines, pageApp } from '../support/daemon/service.ts'
import { daemonSuite } from '../support/daemon/suite.ts'
import { createLfsServer } from '../support/git/lfs-server.ts'
import { createRepository } from '../support/git/repository.ts'

const suite = daemonSuite()

test('a build gets the files of Git LFS, and one that is missing fails the deploy', async (t) => {
  const { api } = suite
  const repository = createRepository(t)
  const missing = new Set<string>()
  const server = await createLfsServer(t, {
    root: repository.root,
    locate: (oid, standard) =>
      missing.has(oid) ? { oid, error: { code: 404, message: 'Object does not exist' } } : standard,
  })
  const pointer = server.add('from LFS')
  const attributes = { '.gitattributes': '*.html filter=lfs -text\n' }
  repository.commit('First', { ...(await pageApp('')), ...attributes, 'www/index.html': pointer })
  const shop = { name: 'large', repo_url: `${server.url}/app`, drain_seconds: 0, auto_deploy: false }
  const { latest_deploy } = await api.post('/services', shop)
  const first = await finishedDeploy(api, latest_deploy.id)

  assert.equal(first.status, 'live', first.error)
  assert.equal(await fetchPage(api, 'large'), 'from LFS')
  assert.ok((await logLines(api, first.id)).includes('fetching 1 file of Git LFS, 8 B'))

  missing.add(/sha256:(\w+)/.exec(pointer)![1]!)
  const second = await finishedDeploy(api, (await api.post('/services/large/deploys', {})).id)
  assert.deepEqual([second.status, second.error_code], ['failed', 'source_invalid'])
  assert.match(second.error, /^www\/index\.html is not in Git LFS at \S+: 404 Object does not exist$/)
  assert.equal(await fetchPage(api, 'large'), 'from LFS')
  await api.call('DELETE', '/services/large')
})
