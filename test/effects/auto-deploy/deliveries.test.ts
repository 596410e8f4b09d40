// Deliveries are answered also when the source cannot be read, a head that could not be read is deployed
// again, and a verdict holds only for its settings.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { planOf } from '../../../src/domain/auto-deploys.ts'
import { autoDeployEffects } from '../../../src/effects/auto-deploy/auto-deploy.ts'
import type { AutoDeployPorts } from '../../../src/effects/auto-deploy/ports.ts'
import { standIn } from '../../support/effects/stand-in.ts'
import { createGitServer, type GitServerAnswer, testHostRules } from '../../support/git/git-server.ts'
import { createRepository } from '../../support/git/repository.ts'
import { serviceRow, transitionOf } from '../../support/storage/store-fixtures.ts'
import { instant, silentLogger, temporaryStorage } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

async function open(t: TestContext, answer: GitServerAnswer = { status: 503 }) {
  const storage = await temporaryStorage(t)
  const dataDir = temporaryDirectory(t)
  const { url, requests } = await createGitServer(t, { root: dataDir, answer: () => answer })
  const row = serviceRow({ repo_url: `${url}/shop`, image: null, auto_deploy: true })
  await storage.services.create(row)
  const id = storage.ids.newId('dlv')
  await storage.hookDeliveries.keep({
    id,
    provider: 'gitea',
    connection_id: 'git-1',
    delivery_id: 'd-1',
    event: 'push',
    repository: 'git.test/ada/shop',
    ref: 'refs/heads/main',
    before: null,
    after: null,
    received_at: instant,
    refusal: null,
    decisions: { 'svc-1': null },
  })
  assert.deepEqual(storage.hookDeliveries.openOf('svc-1'), [id])
  const settings = {
    dataDir,
    minFreeDiskMb: 0,
    localRepositories: [],
    gitHosts: testHostRules,
    deployLimits: { fetchMs: 10_000, buildMs: 1, startMs: 1 },
  }
  const spawned: string[] = []
  const spawn: AutoDeployPorts['actors']['spawn'] = async (_kind, id, _input, options) => {
    await storage.actors.create(transitionOf({ id, kind: 'deploy', service_id: 'svc-1' }, {}), options?.also)
    spawned.push(id)
  }
  const actors = { spawn }
  const ports = standIn<AutoDeployPorts>({ storage, actors, logger: silentLogger, settings })
  const input = { id: 'aut-1', serviceId: 'svc-1', plan: planOf(row)! }
  return { storage, dataDir, requests, spawned, effects: autoDeployEffects(ports), input }
}

test('a head that cannot be read answers the deliveries with the reason', async (t) => {
  const { storage, effects, input } = await open(t)
  const deciding = { ...input, head: '1'.repeat(40), decision: null, isPush: true }
  await assert.rejects(effects.decide(deciding, t.signal), { code: 'git_remote_unreachable' })

  assert.deepEqual(storage.hookDeliveries.openOf('svc-1'), [])
  const [delivery] = storage.hookDeliveries.ofService('svc-1', 1)
  assert.match(delivery!.decisions['svc-1']!.reason, /503/)
})

test('a source that fails differently each time answers a delivery once', async (t) => {
  const { storage, effects, input } = await open(t)
  const former = { decision: null, hasLooked: true, failures: 1, failedAt: new Date().toISOString() }
  const problem = { code: 'git_remote_unreachable', message: 'another reason' }
  const watched = await effects.watchSource({ ...input, ...former, problem }, t.signal)
  assert.ok('problem' in watched && watched.problem?.message !== problem.message)
  assert.deepEqual(storage.hookDeliveries.openOf('svc-1'), [])
})

test('a head that its deploy could not read is deployed again, a few times', async (t) => {
  const { storage, dataDir, effects, input } = await open(t, 'serve')
  const head = createRepository(t, { root: dataDir, name: 'shop' }).commit('First', { page: 'one' })
  const source = { kind: 'git', repo_url: null, branch: 'main', commit: head, image: null, deploy_id: null }
  const unread = { phase: 'fetching', error_code: 'git_remote_unreachable', finished_at: instant }
  const make = (id: string, status: string, revision: number) => {
    const { record, ...rest } = transitionOf({ id, kind: 'deploy', revision }, { status })
    return { ...rest, record: { ...record, source, commit_sha: null, ...unread } }
  }
  const watchDeploy = async (id: string, limit: AbortSignal) => {
    await storage.actors.create(make(id, 'running', 1))
    const decision = {
      head,
      at: instant,
      deployId: id,
      reason: 'the branch has a new head',
      tags: [],
      reliesOn: null,
    }
    const former = { decision, problem: null, failedAt: null, failures: 0, hasLooked: true }
    const watching = effects.watchSource({ ...input, ...former }, limit)
    await storage.actors.advance(make(id, 'failed', 2))
    return watching as Promise<{ isAgain: boolean }>
  }
  for (const id of ['dep-1', 'dep-2', 'dep-3', 'dep-4']) {
    assert.equal((await watchDeploy(id, AbortSignal.timeout(20_000))).isAgain, true)
    const { deployId, reason } = await effects.decide(
      { ...input, head, decision: null, isPush: true },
      t.signal,
    )
    assert.deepEqual([deployId?.slice(0, 4), reason], ['dep-', `${id} could not read it`])
  }
  await assert.rejects(watchDeploy('dep-5', AbortSignal.timeout(1000)), { name: 'TimeoutError' })
})

test('nothing is deployed by a verdict about former settings', async (t) => {
  const { storage, spawned, effects, input } = await open(t)
  const beginning = { ...input, head: '1'.repeat(40), deployId: 'dep-1' }
  const changes = [{ auto_deploy_paused_by: 'dep-9' }, { suspended: true }, { branch: 'next' }]
  for (const change of changes) {
    await storage.services.update('svc-1', (row) => ({
      ...row,
      auto_deploy_paused_by: null,
      suspended: false,
      ...change,
    }))
    assert.deepEqual(await effects.beginDeploy(beginning, t.signal), { isBegun: false })
  }
  assert.deepEqual(spawned, [])
  const plan = planOf(storage.services.get('svc-1'))!
  assert.deepEqual(await effects.beginDeploy({ ...beginning, plan }, t.signal), { isBegun: true })
  assert.deepEqual(spawned, ['dep-1'])
})

test('a renewed token does not wake a service that fails, and a repaired account does', async (t) => {
  const { storage, requests, effects, input } = await open(t)
  await storage.hookDeliveries.settle('svc-1', storage.hookDeliveries.openOf('svc-1'), {
    at: instant,
    deploy_id: null,
    reason: 'it was read',
  })
  const own = { id: 'git-1', kind: 'git-connection', service_id: null }
  await storage.actors.create(transitionOf(own, { status: 'connected' }))
  const problem = { code: 'git_remote_unreachable', message: 'another reason' }
  const former = { decision: null, hasLooked: true, failures: 1, failedAt: new Date().toISOString(), problem }
  const watching = effects.watchSource({ ...input, ...former }, t.signal)
  for (let revision = 2; revision < 6; revision++)
    await storage.actors.advance(transitionOf({ ...own, revision }, { status: 'connected' }))
  assert.equal(requests.length, 0)
  await storage.actors.advance(transitionOf({ ...own, revision: 6 }, { status: 'invalid' }))
  await storage.actors.advance(transitionOf({ ...own, revision: 7 }, { status: 'connected' }))
  assert.ok('problem' in (await watching))
  assert.ok(requests.length > 0)
})
