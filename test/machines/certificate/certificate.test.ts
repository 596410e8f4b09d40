// The chart of a certificate: its transitions, the input of each effect, and a restart at every step.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { cleanups, machine, type WatchInput } from '../../../machines/certificate.ts'
import {
  eventLoopTurns,
  happy,
  input,
  inTurn,
  news,
  recordOf,
  renewsAt,
  resolvesHere,
  retry,
  start,
  troubled,
  validity,
  waits,
  who,
} from '../../support/machines/certificate-chart.ts'
import { failure, instant } from '../../support/machines/deploy-chart.ts'
import { runMachine, type TestEffect } from '../../support/machines/machine-run.ts'
import { toMermaid } from '../../support/machines/mermaid.ts'

test('a host that points here gets its certificate, and the record shows its expiry', async (t) => {
  const run = start()
  t.after(() => run.actor.stop())
  await run.reached('valid')

  assert.deepEqual(run.states, ['checking', 'ordering', 'installing', 'valid'])
  assert.deepEqual(recordOf(run), {
    id: 'crt-1',
    service_id: 'svc-1',
    host: 'shop.example.com',
    status: 'valid',
    phase: null,
    error: null,
    error_code: null,
    hint: null,
    not_before: instant,
    not_after: validity.notAfter,
    next_attempt_at: null,
    renews_at: renewsAt,
    attempts: 0,
    fallback: false,
    created_at: instant,
  })
})

for (const [state, slot] of Object.entries({
  checking: 'checkHost',
  ordering: 'obtainCertificate',
  installing: 'installCertificate',
})) {
  test(`while ${state} the record shows it, and further requests have no effect`, async (t) => {
    const run = start({ [slot]: waits })
    t.after(() => run.actor.stop())
    await run.reached(state)
    await eventLoopTurns()
    const before = run.actor.getSnapshot()

    retry(run)

    const expected = state === 'installing' ? 'valid' : state
    assert.deepEqual([recordOf(run).status, recordOf(run).phase], [expected, state])
    assert.equal(run.actor.getSnapshot(), before)
  })
}

test('each effect receives only the input it needs', async (t) => {
  const inputs: [string, unknown][] = []
  const noting = Object.entries({ ...happy, keepWatch: inTurn(news('unrouted')) }).map(([name, effect]) => {
    const noted: TestEffect = (effectInput, signal) => {
      inputs.push([name, effectInput])
      return effect(effectInput, signal)
    }
    return [name, noted] as const
  })
  const run = start(Object.fromEntries(noting))
  t.after(() => run.actor.stop())
  await run.reached('released')

  const watch = { ...who, until: renewsAt, validity, isExpired: false, warnedDays: null, mayReplace: true }
  assert.deepEqual(inputs, [
    ['checkHost', who],
    ['obtainCertificate', who],
    ['installCertificate', who],
    ['keepWatch', watch],
    ['releaseCertificate', who],
  ])
})
for (const slot of ['checkHost', 'obtainCertificate']) {
  test(`${slot} with an internal failure is retried, and shows the reason`, async (t) => {
    const run = start({ [slot]: () => Promise.reject(failure) })
    t.after(() => run.actor.stop())
    await run.reached('waiting')

    const { status, error, next_attempt_at } = recordOf(run)
    assert.deepEqual(
      [status, error, next_attempt_at],
      ['waiting', failure.message, '2026-01-01T00:01:00.000Z'],
    )
  })
}

for (const slot of ['installCertificate', 'keepWatch', 'releaseCertificate']) {
  test(`a failure of ${slot} is left to the supervisor`, async () => {
    const run = start({ keepWatch: inTurn(news('unrouted')), [slot]: () => Promise.reject(failure) })
    await eventLoopTurns()
    assert.equal(run.actor.getSnapshot().status, 'error')
  })
}

for (const [name, changes] of Object.entries<Record<string, TestEffect>>({
  'before it was requested': { checkHost: async () => ({ at: instant, isRouted: false, trouble: null }) },
  'while it waits': { checkHost: troubled('host_elsewhere'), keepWatch: inTurn(news('unrouted')) },
  'while it is valid': { keepWatch: inTurn(news('unrouted')) },
})) {
  test(`a host that is no longer routed ${name} is dropped`, async () => {
    const run = start(changes)
    await run.reached('released')
    assert.deepEqual([recordOf(run).status, run.actor.getSnapshot().status], ['released', 'done'])
    assert.equal(run.started.at(-1), 'releaseCertificate')
  })
}

test('from every snapshot of a long life a fresh actor reaches the same end', async () => {
  const effects = (): Record<string, TestEffect> => ({
    ...happy,
    keepWatch: async (inputs) => news((inputs as unknown as WatchInput).mayReplace ? 'unrouted' : 'due'),
  })
  const whole = runMachine(
    machine,
    { ...effects(), checkHost: inTurn(troubled('host_elsewhere'), resolvesHere) },
    { input },
  )
  await whole.reached('released')
  assert.deepEqual(whole.states, [
    'checking',
    'waiting',
    'checking',
    'ordering',
    'installing',
    'valid',
    'releasing',
    'released',
  ])

  for (const snapshot of whole.snapshots.filter(({ status }) => status === 'active')) {
    const run = runMachine(machine, effects(), { snapshot })
    await run.reached('released')
    assert.deepEqual(recordOf(run), recordOf(whole))
    const { length } = run.started
    assert.deepEqual(run.started, whole.started.slice(-length))
  }
})

test('dropping is a cleanup: it is repeated if an earlier effect ended late', () => {
  assert.deepEqual(cleanups, ['releaseCertificate'])
})

test('the chart matches the reviewed chart', () => {
  const golden = readFileSync(new URL('../../fixtures/charts/certificate.mmd', import.meta.url), 'utf8')
  assert.equal(toMermaid(machine), golden)
})
