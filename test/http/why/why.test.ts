// GET …/why: one answer for every record that can fail.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { excerptOf, phasesOf } from '../../../src/http/why/why.ts'
import type { LogLine } from '../../../storage/log/logs.ts'
import { startChecked } from '../../support/http/checked-api.ts'
import { startJobs } from '../../support/http/job-api.ts'
import { endedActors, restingActors } from '../../support/storage/parked-kinds.ts'

test('a failed deploy shows the reason, the failed build step, and the next step', async (t) => {
  const { call, create, setDeploy, storage } = await startChecked(t)
  const { latest_deploy } = await create({ name: 'web', repo_url: 'https://git.test/a/b' })
  const { id } = latest_deploy!
  const name = '[2/3] RUN npm ci'
  storage.logs.append(id, 'system', `#4 ${name}`, undefined, { step: { number: 4, state: 'started', name } })
  storage.logs.append(id, 'stderr', '#4 0.5 npm error', undefined, { step: { number: 4 } })
  storage.logs.append(id, 'system', '#4 ERROR: x', undefined, { step: { number: 4, state: 'failed' } })
  await storage.logs.end(id)
  const details = { step: 'RUN npm ci', reason: 'registry_credentials' }
  const words = 'RUN npm ci exited with code 1'
  const error = { error: words, error_code: 'build_failed', error_details: details } as const
  await setDeploy(id, { status: 'failed', phase: 'building', ...error })

  const { status, body } = await call('GET', `/deploys/${id}/why`)

  const { phases, ...rest } = body
  assert.equal(status, 200)
  assert.deepEqual(rest, {
    id,
    status: 'failed',
    phase: 'building',
    reason: error.error,
    code: 'build_failed',
    details,
    failed_step: name,
    error_line: null,
    lines: ['0.5 npm error'],
    hint: 'store its credentials: berth registries add HOST',
    commands: ['berth registries add HOST'],
  })
  assert.ok(Array.isArray(phases))
  assert.equal((await call('GET', `/deploys/${id}`)).body.hint, rest.hint)
  const [listed] = (await call('GET', '/deploys')).body as unknown as { hint?: string }[]
  assert.equal(listed!.hint, rest.hint)
})

test('a failed run shows the reason, and how to run it again', async (t) => {
  const { ask, call, ends, live, starts } = await startJobs(t)
  await live({ name: 'web' })
  const { id } = await ask('web', { command: 'rake' })
  await starts(id)
  await ends(id, 3)

  const { body } = await call('GET', `/jobs/${id}/why`)

  assert.deepEqual([body.reason, body.code], ['exited with code 3', 'job_failed'])
  assert.deepEqual(body.commands, ['berth run web -- COMMAND'])
})

test('records of every kind and state have an explanation', async (t) => {
  const { call, create, storage } = await startChecked(t)
  const { id: serviceId } = await create({ name: 'shop', image: 'localhost/app:1' })
  const collections = {
    deploy: 'deploys',
    'job-run': 'jobs',
    backup: 'backups',
    restore: 'restores',
    certificate: 'certificates',
  } as const
  const prefixes: Record<string, string> = {
    deploy: 'dep',
    'job-run': 'job',
    backup: 'bak',
    restore: 'rst',
    certificate: 'crt',
  }
  const idOf = (kind: string, state: string) => `${prefixes[kind]}-${state.replace(/[^a-z]+/g, '-')}`
  const requests = [...restingActors(idOf), ...endedActors(idOf)].filter(({ kind }) => kind in collections)
  for (const { id, kind, transition } of requests) {
    const record = { ...transition.record, service_id: serviceId }
    await storage.actors.create({ ...transition, record })
    const { status, body } = await call('GET', `/${collections[kind as 'deploy']}/${id}/why`)
    const isMissing = kind === 'backup' && record.status === 'deleted'
    assert.equal(status, isMissing ? 404 : 200, id)
    if (!isMissing) assert.equal(body.status, record.status)
  }
})

const ts = '2026-01-01T00:00:00.000Z'
const line = (stream: LogLine['stream'], text: string, about?: object): LogLine => ({
  ts,
  stream,
  line: text,
  ...(about && { about: { ...about } }),
})
const step = (number: number, text: string, more: object = {}) =>
  line('system', text, { step: { number, ...more } })

test('the failed step of a build is shown with its own last lines', () => {
  const log = [
    step(4, '#4 [2/3] RUN npm ci', { state: 'started', name: '[2/3] RUN npm ci' }),
    step(5, '#5 [other 1/2] RUN make', { state: 'started', name: '[other 1/2] RUN make' }),
    step(4, '#4 0.512 npm error missing script'),
    step(5, '#5 0.700 compiling'),
    step(4, '#4 ERROR: exit code: 1', { state: 'failed' }),
    step(5, '#5 CANCELED', { state: 'canceled' }),
  ]
  assert.deepEqual(excerptOf(log), {
    failed_step: '[2/3] RUN npm ci',
    error_line: null,
    lines: ['0.512 npm error missing script'],
  })
})

test('a command whose output imitates a builder fails no step', () => {
  const forged = line('stdout', '#4 ERROR: not of the builder', { step: { number: 4 } })
  const log = [step(4, '#4 [1/1] RUN x', { state: 'started', name: '[1/1] RUN x' }), forged]
  assert.equal(excerptOf(log).failed_step, null)
})

test('for an instance the lines after the last system line are shown', () => {
  const log = [
    line('stdout', 'of the pre-deploy command'),
    line('system', 'the last 2 lines of the instance:'),
    line('stderr', 'Error: no database'),
    line('stderr', '    at main'),
    line('system', 'failed: the instance exited with code 1'),
  ]
  assert.deepEqual(excerptOf(log).lines, ['Error: no database', '    at main'])
})

test('a log without output shows its last lines', () => {
  assert.deepEqual(excerptOf([line('system', 'canceled by the administrator')]).lines, [
    'canceled by the administrator',
  ])
})

test('phases end with the outcome, and the failed one is marked', () => {
  const entry = (seconds: number, state: string, status: string) => ({
    at: `2026-01-01T00:00:0${seconds}.000Z`,
    event: 'x',
    state,
    status,
    phase: null,
    by: null,
    revision: seconds,
    boot: 1,
  })
  const history = [
    entry(0, 'queued', 'queued'),
    entry(1, 'running.building', 'running'),
    entry(2, 'running.building', 'running'),
    entry(4, 'failing', 'failed'),
    entry(5, 'failed', 'failed'),
  ]
  assert.deepEqual(phasesOf(history, Date.parse('2026-01-01T01:00:00.000Z')), [
    { name: 'queued', duration_ms: 1000, failed: false },
    { name: 'building', duration_ms: 3000, failed: true },
  ])
})

test('the outcome is not repeated as a line, because the reason contains it', () => {
  const outcome = line('system', 'failed: no such base', { mark: 'outcome' })

  assert.deepEqual(excerptOf([line('system', 'unpacked'), outcome]).lines, ['unpacked'])
})
