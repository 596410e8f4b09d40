// Deploy keys with a real sshd: what is read with them, what a daemon leaves that is killed, and their end.
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Body } from '../support/daemon/api.ts'
import { startDaemon } from '../support/daemon/daemon.ts'
import { fetchPage, finishedDeploy, logLines, pageApp, until } from '../support/daemon/service.ts'
import { createRepository } from '../support/git/repository.ts'
import { createSshServer } from '../support/git/ssh-server.ts'
import { rawTables } from '../support/storage/store-fixtures.ts'

async function openShop(t: TestContext, settings: Body = {}) {
  const [daemon, server] = [await startDaemon(t), await createSshServer(t)]
  const repository = createRepository(t)
  repository.commit('First', await pageApp('one'))
  const repo_url = server.url(repository.directory)
  // Without a key, ssh would write into the files of the user that runs the tests.
  const quiet = { deploy: false, auto_deploy: false }
  const shop = { name: 'shop', repo_url, drain_seconds: 0, ...quiet, ...settings }
  await daemon.api.post('/services', shop)
  const key = (body: object = {}) => daemon.api.post('/services/shop/deploy-key', body)
  const deploy = async () =>
    finishedDeploy(daemon.api, (await daemon.api.post('/services/shop/deploys', {})).id)
  const files = join(daemon.dataDir, 'work', 'ssh-keys')
  return {
    daemon,
    server,
    repository,
    key,
    deploy,
    keyFiles: () => (existsSync(files) ? readdirSync(files) : []),
  }
}

test('a service is read with its key by deploys and automatic deploys, until it is deleted', async (t) => {
  const { daemon, server, repository, key, deploy, keyFiles } = await openShop(t, { watch_paths: ['www/**'] })
  const { api } = daemon
  const first = await key()

  const unknown = await deploy()
  assert.deepEqual([unknown.status, unknown.error_code], ['failed', 'git_remote_unreachable'])
  assert.match(
    unknown.error,
    /enter the key of this service as a deploy key of the repository: berth deploy-key shop shows it$/,
  )
  const why = await api.get(`/deploys/${unknown.id}/why`)
  assert.deepEqual(why.commands, ['berth deploy-key shop'])

  server.allow(first.public_key)
  const read = await deploy()
  assert.equal(read.status, 'live', read.error)
  assert.ok(
    (await logLines(api, read.id)).includes('reading the repository with the deploy key of the service'),
  )
  const { hosts } = await api.get('/services/shop/deploy-key')
  assert.deepEqual(
    hosts.map(({ host }: Body) => host),
    [server.host],
  )

  const head = repository.commit('Two', { 'www/index.html': 'two' })
  await api.call('PATCH', '/services/shop', { auto_deploy: true })
  const { deploy_id, reason } = await until('the decision', async () => {
    const { decision } = (await api.get('/services/shop')).auto_deploys
    return decision?.head === head && decision
  })
  assert.equal(reason, 'it changes www/index.html')
  await finishedDeploy(api, deploy_id)
  assert.equal(await fetchPage(api, 'shop'), 'two')

  const second = await key({ rotate: true })
  assert.equal((await deploy()).error_code, 'git_remote_unreachable')
  server.allow(second.public_key)
  assert.equal((await deploy()).status, 'live')

  const shown = await server.replaceHostKey()
  const changed = await deploy()
  assert.equal(changed.error_code, 'host_key_changed')
  assert.ok(changed.error.includes(shown) && changed.error.includes(hosts[0].fingerprint), changed.error)
  await api.call('DELETE', '/services/shop/deploy-key/hosts')
  assert.equal((await deploy()).status, 'live')
  assert.deepEqual(keyFiles(), [])

  await api.call('DELETE', '/services/shop')
  await until('the removal', async () => (await api.get('/services')).length === 0)
  await daemon.stop()
  assert.deepEqual((await rawTables(daemon.dataDir)).deploy_keys ?? [], [])
  assert.doesNotMatch([...daemon.log, ...daemon.printed].join('\n'), /PRIVATE KEY/)
})

test('a daemon that was killed while git ran leaves no key file after its start', async (t) => {
  const { daemon, server, key, keyFiles } = await openShop(t)
  server.allow((await key()).public_key)
  const release = server.hold()
  const { id } = await daemon.api.post('/services/shop/deploys', {})
  await until('the fetch', async () => server.isHeld())
  const left = keyFiles()
  assert.ok(left.length > 0)

  await daemon.kill()
  assert.deepEqual(keyFiles(), left)
  await daemon.start()

  assert.deepEqual(
    keyFiles().filter((name) => left.includes(name)),
    [],
  )
  release()
  assert.equal((await finishedDeploy(daemon.api, id)).status, 'live')
  assert.deepEqual(keyFiles(), [])
})
