// What `berth why` says of a deploy that is under way, by what the server tells of its builder.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Answered, answeringServer, problem, someInfo } from '../support/answering-server.ts'
import { runBerth } from '../support/berth.ts'

const id = 'dep-01k5yq0v3nhx8m2r7c9d4f6gbt'
const at = '2026-01-01T00:00:00.000Z'

async function why(t: TestContext, info: Answered, ...more: string[]) {
  const deploy = {
    id,
    service_id: 'svc-1',
    status: 'running',
    phase: 'building',
    error: null,
    created_at: at,
  }
  const server = await answeringServer(t, ({ path }) => {
    if (path.includes('/info')) return info
    if (path.includes('/history')) return { body: [{ at, state: 'building', status: 'running' }] }
    if (path.includes('/logs')) return { body: '' }
    const isDeploy = path.startsWith('/api/v1/deploys/')
    return { body: isDeploy ? { ...deploy, finished_at: null, source: {} } : { id: 'svc-1', name: 'shop' } }
  })
  const env = { BERTH_SERVER: server.url, BERTH_TOKEN: 'bth_x' }
  return runBerth(t, ['why', id, ...more], { env })
}

const { builds } = someInfo

test('a builder that hangs is said of a deploy that is under way', async (t) => {
  const body = { ...someInfo, builds: { ...builds, hangs_since: at } }

  assert.match((await why(t, { body })).stdout, /BuildKit hangs since 2026-01-01T00:00:00.000Z/)
  assert.equal(JSON.parse((await why(t, { body }, '--json')).stdout).builder_hangs_since, at)
})

test('a token of some services, and an older server, show a deploy all the same', async (t) => {
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
