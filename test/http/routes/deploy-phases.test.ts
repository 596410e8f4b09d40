// How long the phases of deploys took, over HTTP and a real store.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Deploy, PhaseTimes } from '../../../src/api/deploy.ts'
import { startChecked } from '../../support/http/checked-api.ts'

type Step = [secondsLater: number, state: string, event?: string]

async function start(t: TestContext) {
  const api = await startChecked(t)
  await api.create({ name: 'web', repo_url: 'https://git.test/owner/name', deploy: false })
  const request = async () => (await api.call('POST', '/services/web/deploys')).body as unknown as Deploy
  /** A deploy with these transitions after its request. */
  const deployed = async (steps: Step[], fields: Partial<Deploy> = {}): Promise<string> => {
    const { id, created_at } = await request()
    const [asked] = api.storage.actors.history(id)
    for (const [secondsLater, state, event = 'x'] of steps) {
      const row = api.storage.actors.get(id)!
      const status = state.split('.')[0] as Deploy['status']
      const at = new Date(Date.parse(asked!.at) + secondsLater * 1000).toISOString()
      const record = { ...api.storage.actors.record(id)!, ...fields, status, created_at }
      await api.storage.actors.advance({
        row: { ...row, revision: row.revision + 1 },
        record,
        entry: { at, event, state, status, phase: null, by: null },
        service: null,
        event: null,
      })
    }
    return id
  }
  return { ...api, deployed }
}

/** A build of so many seconds. */
const happy = (buildSeconds: number): Step[] => [
  [1, 'running.fetching'],
  [2, 'running.building'],
  [2 + buildSeconds, 'running.starting'],
  [4 + buildSeconds, 'live'],
  [60 + buildSeconds, 'live'],
]

test('the times of the phases are included on request, until the deploy is live', async (t) => {
  const { call, deployed } = await start(t)
  const id = await deployed(happy(8))
  const phases = (deploy: unknown) =>
    (deploy as Deploy).phases!.map(({ phase, duration_ms }) => [phase, duration_ms])

  const bare = await call('GET', `/deploys/${id}`)
  const full = await call('GET', `/deploys/${id}?include=phases`)
  const lists = [
    await call('GET', '/deploys?include=phases'),
    await call('GET', '/services/web/deploys?include=phases'),
  ]

  const expected = [
    ['queued', 1000],
    ['fetching', 1000],
    ['building', 8000],
    ['starting', 2000],
  ]
  assert.equal('phases' in bare.body, false)
  assert.deepEqual(phases(full.body), expected)
  for (const { body } of lists) assert.deepEqual(phases((body as unknown as Deploy[])[0]), expected)
})

test('the wait for a build slot is separate from the build, also after a restart', async (t) => {
  const { call, deployed } = await start(t)
  const id = await deployed([
    [1, 'running.building'],
    [1, 'running.building', 'build.queued'],
    [31, 'running.building', 'build.started'],
    [41, 'running.building', 'build.queued'],
    [45, 'running.building', 'build.started'],
  ])

  const { phases } = (await call('GET', `/deploys/${id}?include=phases`)).body as unknown as Deploy

  assert.deepEqual(
    phases!.map(({ phase, duration_ms }) => [phase, duration_ms]),
    [
      ['queued', 1000],
      ['slot', 30_000],
      ['building', 10_000],
      ['slot', 4000],
      ['building', null],
    ],
  )
})

test('the usual times are those of the newest deploys that built something and went live', async (t) => {
  const { call, deployed } = await start(t)
  const source = { kind: 'reuse' } as Deploy['source']
  await deployed(happy(500))
  for (const seconds of [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]) await deployed(happy(seconds))
  await deployed([...happy(700).slice(0, 3), [703, 'failed']])
  await deployed(
    [
      [1, 'running.starting'],
      [2, 'live'],
    ],
    { source },
  )
  await deployed([[1, 'running.fetching']])

  const { body } = await call('GET', '/services/web/phase-times')
  const ofTwo = await call('GET', '/services/web/phase-times?last=2')

  assert.deepEqual(body, {
    count: 10,
    total: { median_ms: 54_000, p90_ms: 94_000 },
    phases: {
      queued: { median_ms: 1000, p90_ms: 1000 },
      fetching: { median_ms: 1000, p90_ms: 1000 },
      building: { median_ms: 50_000, p90_ms: 90_000 },
      starting: { median_ms: 2000, p90_ms: 2000 },
    },
  })
  assert.deepEqual((ofTwo.body as unknown as PhaseTimes).phases.building, {
    median_ms: 90_000,
    p90_ms: 100_000,
  })
})

test('a service without a successful deploy has no usual times', async (t) => {
  const { call } = await start(t)

  assert.deepEqual((await call('GET', '/services/web/phase-times')).body, {
    count: 0,
    total: null,
    phases: {},
  })
})
