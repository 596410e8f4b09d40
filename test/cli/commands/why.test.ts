// What `berth why` shows about a running deploy, depending on the state of the builder.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startFakeBerth } from '../../support/cli/berth.ts'
import { type FakeResponse, problem, someInfo } from '../../support/cli/fake-server.ts'

const id = 'dep-01k5yq0v3nhx8m2r7c9d4f6gbt'
const at = '2026-01-01T00:00:00.000Z'

const building = {
  id,
  status: 'running',
  phase: 'building',
  reason: null,
  code: null,
  details: null,
  failed_step: null,
  error_line: null,
  lines: [],
  hint: null,
  commands: [],
  phases: [{ name: 'building', duration_ms: 1000, failed: false }],
}

async function why(t: TestContext, info: FakeResponse, ...more: string[]) {
  const deploy = {
    id,
    service_id: 'svc-1',
    status: 'running',
    phase: 'building',
    error: null,
    created_at: at,
  }
  const { berth } = await startFakeBerth(t, ({ path }) => {
    if (path.includes('/info')) return info
    if (path.endsWith('/why')) return { body: building }
    const isDeploy = path.startsWith('/api/v1/deploys/')
    return { body: isDeploy ? { ...deploy, finished_at: null, source: {} } : { id: 'svc-1', name: 'shop' } }
  })
  return berth('why', id, ...more)
}

const { builds } = someInfo

test('a hanging builder is mentioned for a running deploy', async (t) => {
  const body = { ...someInfo, builds: { ...builds, hangs_since: at } }

  assert.match((await why(t, { body })).stdout, /BuildKit has been hanging since 2026-01-01T00:00:00.000Z/)
  assert.equal(JSON.parse((await why(t, { body }, '--json')).stdout).builder_hangs_since, at)
})

test('with a limited token or an older server a deploy is still shown', async (t) => {
  for (const info of [
    problem(403, 'insufficient_role', 'this token is of some services'),
    { body: { ...someInfo, builds: { builder: 'buildkit' } } },
  ]) {
    const { code, stdout } = await why(t, info)
    assert.equal(code, 0)
    assert.match(stdout, /shop is building/)
    assert.doesNotMatch(stdout, /hangs/)
  }
})

test('a job run is shown by its id with its reason, its last lines and the next step', async (t) => {
  const run = 'job-01k5yq0v3nhx8m2r7c9d4f6gbt'
  const failed = {
    ...building,
    id: run,
    status: 'failed',
    phase: null,
    reason: 'exited with code 3',
    code: 'job_failed',
    lines: ['no such table'],
    hint: 'run it again: berth run shop',
    commands: ['berth run shop'],
  }
  const requests: string[] = []
  const { berth } = await startFakeBerth(t, ({ path }) => {
    requests.push(path)
    return { body: failed }
  })

  const { code, stdout } = await berth('why', run)

  assert.equal(code, 0)
  for (const text of ['no such table', 'exited with code 3', 'run it again: berth run shop']) {
    assert.ok(stdout.includes(text), stdout)
  }
  assert.ok(requests.includes(`/api/v1/jobs/${run}/why`), requests.join(' '))
})

test('a cron job is explained by its newest run if that failed, and by its deploy otherwise', async (t) => {
  const run = { ...building, id: 'job-01k5yq0v3nhx8m2r7c9d4f6gbt', status: 'failed', phase: null }
  const deploy = { id, service_id: 'svc-1', status: 'live', phase: null, created_at: at, source: {} }
  const explain = async (runStatus: string, wanted: string) => {
    const { berth } = await startFakeBerth(t, ({ path }) => {
      if (path.includes('/jobs?')) return { body: [{ ...run, status: runStatus }] }
      if (path.includes('/deploys?')) return { body: [deploy] }
      if (path === `/api/v1/jobs/${run.id}/why`) return { body: { ...run, reason: 'exited with code 3' } }
      if (path.endsWith('/why')) return { body: { ...building, status: 'live' } }
      return {
        body: path.includes('/deploys/') ? deploy : { id: 'svc-1', name: 'nightly', type: 'cron_job' },
      }
    })
    return (await berth('why', wanted)).stdout
  }

  const failed = await explain('failed', 'nightly')
  assert.match(failed, /the newest run of nightly failed/)
  assert.match(failed, /exited with code 3/)
  for (const stdout of [await explain('succeeded', 'nightly'), await explain('failed', id)]) {
    assert.match(stdout, /nightly is live/)
    assert.match(stdout, /its runs: berth jobs nightly/)
  }
})
