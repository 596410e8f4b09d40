// Starting and stopping: exclusive use of a data directory and a prefix, and the messages of a failed start.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ServiceRow } from '../../storage/services.ts'
import { schemaOfAutoDeploys } from '../../storage/store/migrations.ts'
import { openRedundantValue } from '../../storage/store/redundant-value.ts'
import { openStore } from '../../storage/store/store.ts'
import { runBerth } from '../support/cli/berth.ts'
import { startDaemon } from '../support/daemon/daemon.ts'
import { programArgs } from '../support/daemon/program.ts'
import { finishedDeploy, logLines, pageApp, until } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'
import { createEngineGate } from '../support/docker/engine-gate.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import { long } from '../support/system/drill-size.ts'

/** Runs berthd until it exits. */
function berthd(...args: string[]): { code: number | null; said: string } {
  const command = [...programArgs('src/main'), ...args]
  const { status, stderr, stdout } = spawnSync(process.execPath, command, {
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { code: status, said: stderr + stdout }
}

test('an option with a bad value stops the start and is named', () => {
  const { code, said } = berthd('--build-concurrency=many')
  assert.equal(code, 2)
  assert.equal(said, "berthd: --build-concurrency: 'many' is not a whole number from 1 to 64\n")
})

test('a data directory in use is refused; a kill leaves no lock behind', async (t) => {
  const daemon = await startDaemon(t)
  const { code, said } = berthd('--data-dir', daemon.dataDir, '--listen', '127.0.0.1:0')
  assert.equal(code, 1)
  assert.match(said, new RegExp(`${daemon.dataDir} is in use by process ${daemon.pid}`))
  await daemon.kill()
  await daemon.start()
  assert.equal((await daemon.api.call('GET', '/info')).status, 200)
})

test('objects with the prefix that belong to another data directory stop the start', async (t) => {
  const daemon = await startDaemon(t)
  const { name } = await createService(t, daemon.api, await pageApp('page'))
  await daemon.stop()
  const other = temporaryDirectory(t)
  const { code, said } = berthd('--data-dir', other, '--listen', '127.0.0.1:0', '--prefix', daemon.prefix)
  assert.equal(code, 1)
  assert.match(said, new RegExp(`belong to another data directory: container ${daemon.prefix}-${name}-`))
})

test('after an upgrade, services whose pushes are not deployed are named until each is set', async (t) => {
  const daemon = await startDaemon(t)
  const repo_url = 'https://git.test/ada/shop'
  for (const name of ['api', 'web']) await daemon.api.post('/services', { name, repo_url, deploy: false })
  const chosen = { name: 'chosen', repo_url, deploy: false, auto_deploy: false }
  await daemon.api.post('/services', chosen)
  await daemon.stop()
  const said = () => daemon.log.filter((line) => line.includes('pushes to these services are not deployed'))
  const hints = async () => (await runBerth(t, ['services'], { daemon })).stderr.replace(/^ +/, '').trimEnd()
  assert.equal(said().length, 0)

  await becomeOlder(daemon.dataDir, ['api', 'web'])
  await daemon.start()

  const { services, first } = JSON.parse(said()[0]!)
  assert.deepEqual([said().length, services, first], [1, 3, ['api', 'chosen', 'web']])
  const hint = 'are not deployed: berth update'
  assert.equal(await hints(), `pushes to api, web ${hint} NAME --auto-deploy on, or off to keep it so`)
  await daemon.api.call('PATCH', '/services/api', { auto_deploy: false })
  assert.equal(await hints(), `pushes to web ${hint} web --auto-deploy on, or off to keep it so`)
  assert.equal((await runBerth(t, ['services', '--json'], { daemon })).stderr, '')
  await daemon.api.call('PATCH', '/services/web', { auto_deploy: true })
  await daemon.api.call('PATCH', '/services/web', { auto_deploy: false })
  assert.equal(await hints(), '')
  await daemon.stop()
  await daemon.start()
  assert.equal(said().length, 1)
})

/** The store of a server from before automatic deploys, with these services. */
async function becomeOlder(dataDir: string, names: string[]): Promise<void> {
  const store = openStore(dataDir, { onPanic: assert.fail })
  const services = store.table<ServiceRow>('services')
  await store.commit(() => {
    openRedundantValue<number>(store, 'meta', 'schema').put(schemaOfAutoDeploys - 1)
    for (const { key, value } of [...services.validRows()]) {
      const { poll_seconds: _, ...older } = value
      if (names.includes(value.name)) services.put(key, { ...older, auto_deploy: true })
    }
  })
  await store.close()
}

long('an empty token file stops the start, because it must not open the API', async (t) => {
  const daemon = await startDaemon(t)
  await daemon.stop()
  writeFileSync(join(daemon.dataDir, 'api_token'), '')
  const { code, said } = berthd('--data-dir', daemon.dataDir, '--listen', '127.0.0.1:0')
  assert.equal(code, 1)
  assert.match(said, /api_token contains no token/)
})

long('the data directory and the token are accessible only to their owner', async (t) => {
  const daemon = await startDaemon(t)
  const mode = (path: string) => statSync(path).mode & 0o777
  assert.equal(mode(daemon.dataDir), 0o700)
  assert.equal(mode(join(daemon.dataDir, 'api_token')), 0o600)
  assert.equal(mode(join(daemon.dataDir, 'secret_key')), 0o600)
})

test('SIGTERM exits with code 0 in the middle of a build, which resumes at the next start', async (t) => {
  const daemon = await startDaemon(t)
  const { request, repository } = await createService(t, daemon.api, null, { deploy: false })
  repository.commit('Slow', await pageApp('slow', `RUN echo ${Math.random()}; sleep 5`))
  const { id } = await request()
  await until('the build', async () => (await daemon.api.get(`/deploys/${id}`)).phase === 'building')
  assert.equal(await daemon.stop(), 0)
  await daemon.start()
  assert.equal((await finishedDeploy(daemon.api, id)).status, 'live')
  assert.ok((await logLines(daemon.api, id)).includes('the build starts again: the daemon was restarted'))
})

test('without an engine deploys wait; with it they continue, also after an outage', async (t) => {
  const door = await createEngineGate(t)
  const daemon = await startDaemon(t, { args: ['--docker', door.address] })
  const { name, request } = await createService(
    t,
    daemon.api,
    await pageApp('page', `RUN sleep 2 # ${Math.random()}`),
    {
      deploy: false,
    },
  )
  const { id } = await request()
  assert.equal((await daemon.api.get('/info')).docker_version, null)
  assert.equal((await daemon.api.call('GET', `/services/${name}/status`)).body.code, 'docker_unavailable')
  await until('the reason', async () => {
    const log = await daemon.api.call('GET', `/deploys/${id}/logs`)
    return log.body.includes('waiting for the Docker engine')
  })
  await door.open()
  await until('the build', async () => (await daemon.api.get(`/deploys/${id}`)).phase === 'building')
  door.close()
  await until('the engine to be missed', async () => (await daemon.api.get('/info')).docker_version === null)
  await door.open()
  assert.equal((await finishedDeploy(daemon.api, id)).status, 'live')
})
