// Reports of deploys to a provider: which deploys have them, what is sent, and what a provider may refuse.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { CommitStatusInput } from '../../../machines/commit-status.ts'
import { commitStatusEffects } from '../../../src/effects/commit-status/commit-status.ts'
import { keepCommitStatuses } from '../../../src/effects/commit-status/keeper.ts'
import type { SharedPorts } from '../../../src/effects/ports.ts'
import { createGitProvider, type FakeProviderOptions } from '../../support/git/git-provider.ts'
import { testHostRules } from '../../support/git/git-server.ts'
import { git } from '../../support/http/git-connections.ts'
import { startApi } from '../../support/http/http-context.ts'
import { serviceRow, transitionOf } from '../../support/storage/store-fixtures.ts'
import { eventually, silentLogger } from '../../support/supervisor/supervision.ts'

const sha = 'a1'.repeat(20)

interface DeployFields {
  status?: string
  commit?: string | null
  kind?: string
  phase?: string | null
  error?: string | null
}

interface ReportOptions extends FakeProviderOptions {
  report?: boolean
}

/** A service of ada/shop, whose connection reports deploys. */
async function openReports(t: TestContext, { report = true, ...options }: ReportOptions = {}) {
  const [api, fake] = [await startApi(t), await createGitProvider(t, options)]
  const { storage, context } = api
  const connect = () => {
    const token = fake.createToken('ada', { scopes: ['read:user', 'write:repository'] })
    const body = { provider: 'gitea', token, base_url: fake.url, report_deploys: report }
    return api.call('POST', `${git}/connections`, { body })
  }
  const connection = await connect()
  const repo_url = `${fake.url}/ada/shop.git`
  await storage.services.create(serviceRow({ repo_url }))
  const settings = { gitHosts: testHostRules }
  const ports = { storage, actors: context.actors, logger: silentLogger, settings, identity: { url: null } }
  const place = { connectionId: connection.body.id as string, repository: 'ada/shop', label: 'berth/shop' }
  const effects = commitStatusEffects(ports)
  return {
    fake,
    storage,
    ports,
    effects,
    place,
    connect,
    send: (deployId: string) =>
      effects.sendStatus({ id: 'sta-1', serviceId: 'svc-1', deployId, ...place, hasWarned: false }, t.signal),
    async deploy(id: string, fields: DeployFields = {}) {
      const { status = 'live', commit = sha, kind = 'git', phase = null, error = null } = fields
      const source = { kind, repo_url, branch: 'main', commit: null, image: null, deploy_id: null }
      const { record, ...transition } = transitionOf({ id }, { status })
      const own = { source, commit_sha: commit, phase, error }
      await storage.actors.create({ ...transition, record: { ...record, ...own } })
    },
  }
}

const statesOf = ({ fake }: Awaited<ReturnType<typeof openReports>>) =>
  fake.state.statuses.map(({ state, description }) => [state, description])

test('of several deploys of a commit, only the newest one reports', async (t) => {
  const reports = await openReports(t)
  await reports.deploy('dep-1', { status: 'failed', error: 'it crashed' })
  await reports.deploy('dep-2', { status: 'live' })
  assert.deepEqual(await reports.send('dep-1'), { state: null, isFinal: true, refusal: null })
  assert.deepEqual(await reports.send('dep-2'), { state: 'success', isFinal: true, refusal: null })
  assert.deepEqual(statesOf(reports), [['success', 'Live']])
})

test('a superseded deploy is neither a success nor a failure', async (t) => {
  const reports = await openReports(t)
  await reports.deploy('dep-1', { status: 'canceled', error: 'superseded by dep-2' })
  assert.equal(((await reports.send('dep-1')) as { state: string }).state, 'canceled')
  assert.deepEqual(statesOf(reports), [['warning', 'superseded by dep-2']])
})

test('nothing is sent about a deploy whose commit never became known', async (t) => {
  const reports = await openReports(t)
  await reports.deploy('dep-1', { status: 'failed', commit: null, error: 'cannot read it' })
  const input = { id: 'sta-1', serviceId: 'svc-1', deployId: 'dep-1', reported: null }
  assert.deepEqual(await reports.effects.awaitNews(input, t.signal), { hasEnded: true })
  assert.deepEqual(await reports.send('dep-1'), { state: null, isFinal: true, refusal: null })
})

test('a limit of the provider holds for all reports of a connection', async (t) => {
  const limit = { status: 429, headers: { 'retry-after': '60' }, body: { message: 'slow down' } }
  let isLimited = false
  const reports = await openReports(t, {
    override: ({ path }) => (isLimited && path.includes('/statuses/') ? limit : null),
  })
  await reports.deploy('dep-1')
  await reports.deploy('dep-2', { commit: 'b2'.repeat(20) })
  isLimited = true
  await assert.rejects(reports.send('dep-1'), {
    code: 'git_provider_unavailable',
    facts: { retry_after_ms: 60_000 },
  })
  isLimited = false
  const before = reports.fake.requests.length
  await assert.rejects(reports.send('dep-2'), /limits requests until/)
  assert.equal(reports.fake.requests.length, before)
})

test('a report waits until its account is connected again', async (t) => {
  const reports = await openReports(t)
  await reports.deploy('dep-1')
  for (const token of reports.fake.state.tokens.keys()) reports.fake.revoke(token)
  for (const _ of ['found out', 'known'])
    await assert.rejects(reports.send('dep-1'), { code: 'git_authorization_rejected' })
  const { connectionId } = reports.place
  const pause = { id: 'sta-1', serviceId: 'svc-1', connectionId, wakeAt: Date.now() + 600_000 }
  const woken = reports.effects.awaitRetry(pause, t.signal)
  await reports.connect()
  assert.deepEqual(await woken, { isGone: false })
  assert.deepEqual(await reports.send('dep-1'), { state: 'success', isFinal: true, refusal: null })
})

test('at most two reports of a connection are sent at a time', async (t) => {
  let open = 0
  let most = 0
  const reports = await openReports(t, {
    override: ({ path }) => {
      if (path.includes('/statuses/')) most = Math.max(most, ++open)
      return null
    },
  })
  const ids = Array.from({ length: 8 }, (_, at) => `dep-${at + 1}`)
  for (const id of ids) await reports.deploy(id, { commit: id.slice(-1).repeat(40) })
  await Promise.all(ids.map((id) => reports.send(id).finally(() => open--)))
  assert.equal(reports.fake.state.statuses.length, 8)
  assert.ok(most <= 2, `${most} at a time`)
})

test('only deploys of commits have reports, and only if the connection reports', async (t) => {
  for (const report of [true, false]) {
    const reports = await openReports(t, { report })
    const spawned: CommitStatusInput[] = []
    const actors = {
      ...reports.ports.actors,
      spawn: async (_kind: string, _id: string, input: CommitStatusInput) => void spawned.push(input),
    } as unknown as SharedPorts['actors']
    t.after(keepCommitStatuses({ ...reports.ports, actors }))
    await reports.deploy('dep-1', { status: 'queued', kind: 'image' })
    await reports.deploy('dep-2', { status: 'queued', kind: 'archive' })
    await reports.deploy('dep-3', { status: 'queued', kind: 'reuse' })
    await reports.deploy('dep-4', { status: 'live' })
    await reports.deploy('dep-5', { status: 'queued' })
    if (report) await eventually('the report', () => spawned.length > 0 || null)
    else await new Promise((resolve) => setTimeout(resolve, 100))
    const made = { id: 'sta-5', deployId: 'dep-5', serviceId: 'svc-1', ...reports.place }
    assert.deepEqual(
      spawned.map(({ at: _, ...rest }) => rest),
      report ? [made] : [],
    )
  }
})
