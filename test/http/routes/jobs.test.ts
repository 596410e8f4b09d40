// Job runs over HTTP and a real store: who may start one, what its record contains, and how it is canceled.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JobRun } from '../../../src/api/job.ts'
import { startJobs } from '../../support/http/job-api.ts'

test('a command returns 202 and a pending run, which is found again unchanged', async (t) => {
  const { call, live } = await startJobs(t)
  const service = await live({ name: 'web' })

  const { status, body } = await call('POST', '/services/web/jobs', { command: 'rake db:migrate' })

  assert.equal(status, 202)
  const { id, created_at, ...rest } = body as unknown as JobRun
  assert.match(id, /^job-/)
  assert.deepEqual(rest, {
    service_id: service.id,
    deploy_id: null,
    command: 'rake db:migrate',
    image: 'berth/web:1',
    status: 'pending',
    trigger: 'manual',
    scheduled_for: null,
    overlap: null,
    timeout_seconds: 86_400,
    stdin: false,
    input_ended_at: null,
    exit_code: null,
    error: null,
    error_code: null,
    error_details: null,
    started_at: null,
    finished_at: null,
    deadline_at: null,
    revision: 1,
    by: { kind: 'token', id: 'server', name: 'server token' },
  })
  assert.deepEqual((await call('GET', `/jobs/${id}`)).body, body)
})

test('a started run shows its settings, and later its outcome', async (t) => {
  const { live, ask, starts, ends, run } = await startJobs(t)
  const { live_deploy_id } = await live({ name: 'web' })
  const { id } = await ask('web', { command: 'rake' })

  await starts(id)
  const started = run(id)!
  await ends(id, 3)
  const ended = run(id)!

  assert.deepEqual(
    [started.deploy_id, started.status, started.finished_at],
    [live_deploy_id, 'running', null],
  )
  assert.deepEqual([ended.status, ended.exit_code, ended.error], ['failed', 3, 'exited with code 3'])
  assert.ok(ended.started_at && ended.finished_at)
})

test('a command is required and must not be blank; only a cron job has a default', async (t) => {
  const { call, live, ask } = await startJobs(t)
  await live({ name: 'web' })
  await live({ name: 'nightly', type: 'cron_job', schedule: '0 3 * * *', overlap: 'replace' })

  for (const body of [undefined, {}, { command: '' }, { command: ' \n' }, { command: 'a\0b' }]) {
    const response = await call('POST', '/services/web/jobs', body)
    assert.deepEqual([response.status, response.body.code], [400, 'invalid_request'], JSON.stringify(body))
  }
  const response = await ask('nightly')
  const other = await ask('nightly', { command: 'env' })
  assert.deepEqual([response.command, response.overlap], [null, 'replace'])
  assert.deepEqual([other.command, other.overlap], ['env', null])
})

test('the time limit of the service applies to runs without one', async (t) => {
  const { live, ask } = await startJobs(t)
  await live({ name: 'web', timeout_seconds: 60 })

  assert.equal((await ask('web', { command: 'rake' })).timeout_seconds, 60)
  assert.equal((await ask('web', { command: 'rake', timeout_seconds: 5 })).timeout_seconds, 5)
})

test('a suspended, deleted, static or never deployed service runs nothing', async (t) => {
  const { call, create, live } = await startJobs(t)
  await create({ name: 'empty' })
  await live({ name: 'asleep' })
  await call('POST', '/services/asleep/suspend')
  await live({ name: 'going' })
  await call('DELETE', '/services/going')
  await live({ name: 'site', type: 'static_site', image: null, repo_url: 'https://git.test/a/b' })

  const requests = async (name: string) => {
    const { status, body } = await call('POST', `/services/${name}/jobs`, { command: 'rake' })
    return [status, body.code, body.hint]
  }
  assert.deepEqual(await requests('empty'), [409, 'conflict', 'berth deploy empty first'])
  assert.deepEqual(await requests('asleep'), [409, 'conflict', 'berth resume asleep first'])
  assert.deepEqual(await requests('going'), [409, 'conflict', undefined])
  assert.deepEqual(await requests('site'), [409, 'conflict', undefined])
  assert.deepEqual(await requests('nobody'), [404, 'not_found', 'berth services lists them'])
})

test('a canceled run is canceled in the response, pending or running, and only once', async (t) => {
  const { call, live, ask, starts, storage } = await startJobs(t)
  await live({ name: 'web' })
  const pending = await ask('web', { command: 'rake' })
  const running = await ask('web', { command: 'rake' })
  await starts(running.id)

  for (const { id } of [pending, running]) {
    const { status, body } = await call('POST', `/jobs/${id}/cancel`)
    assert.deepEqual([status, body.status, body.error], [200, 'canceled', 'canceled by the server token'])
    const again = await call('POST', `/jobs/${id}/cancel`)
    assert.deepEqual([again.status, again.body.code], [409, 'not_cancelable'])
  }
  const events = storage.actors.history(running.id).map(({ event }) => event)
  assert.deepEqual(
    events.filter((event) => event === 'cancel'),
    ['cancel'],
  )
})

test('a request repeated with its key is one run, and one cancel', async (t) => {
  const { call, live, ask } = await startJobs(t)
  await live({ name: 'web' })
  const headers = { 'idempotency-key': 'once' }

  const first = await ask('web', { command: 'rake' }, { headers })
  const second = await ask('web', { command: 'rake' }, { headers })
  const cancel = () => call('POST', `/jobs/${first.id}/cancel`, undefined, { headers })

  assert.deepEqual(second, first)
  assert.deepEqual([(await cancel()).status, (await cancel()).status], [200, 200])
  assert.equal(((await call('GET', '/services/web/jobs')).body as unknown as JobRun[]).length, 1)
})

for (const [what, method, path, reason] of [
  ['suspended', 'POST', '/services/web/suspend', 'canceled by the suspension of its service'],
  ['deleted', 'DELETE', '/services/web', 'canceled by the removal of its service'],
] as const) {
  test(`a service that is ${what} has no pending or running run when the response is sent`, async (t) => {
    const { call, live, ask, starts, run } = await startJobs(t)
    await live({ name: 'web' })
    await live({ name: 'other' })
    const pending = await ask('web', { command: 'rake' })
    const running = await ask('web', { command: 'rake' })
    const elsewhere = await ask('other', { command: 'rake' })
    await starts(running.id)

    await call(method, path)

    const reported = [pending, running].map(({ id }) => [run(id)?.status, run(id)?.error])
    assert.deepEqual(reported, [
      ['canceled', reason],
      ['canceled', reason],
    ])
    assert.equal(run(elsewhere.id)?.status, 'pending')
  })
}
