// The chart of a certificate: its transitions, the input of each effect, and a restart at every step.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type CertificateInput,
  type CertificateProblem,
  type CertificateSnapshot,
  machine,
  toRecord,
  type WatchInput,
} from '../../machines/certificate.ts'
import { failure, instant } from '../support/machines/deploy-chart.ts'
import { forever, type Run, runMachine, type TestEffect, waits } from '../support/machines/machine-run.ts'

const hourMs = 60 * 60_000
const input: CertificateInput = {
  id: 'crt-1',
  serviceId: 'svc-1',
  host: 'shop.example.com',
  at: instant,
}
const who = { id: 'crt-1', serviceId: 'svc-1', host: 'shop.example.com' }
const validity = {
  notBefore: instant,
  notAfter: '2026-04-01T00:00:00.000Z',
  directoryUrl: 'https://ca.example.com/directory',
}
const renewsAt = '2026-03-02T00:00:00.000Z'

const resolvesHere: TestEffect = async () => ({ at: instant, isRouted: true, trouble: null })
const issues: TestEffect = async () => ({ at: instant, validity, trouble: null })
const news = (news: string, warnedDays: number | null = null, at = instant) => ({
  at,
  news,
  warnedDays,
})
const done: TestEffect = async () => ({ at: instant })

function trouble(code: string, retryAt: string | null = null): CertificateProblem {
  return { code, message: `it is ${code}`, hint: 'do something', retryAt }
}
const troubled =
  (code: string, at = instant, retryAt: string | null = null): TestEffect =>
  async () => ({ at, isRouted: true, validity: null, trouble: trouble(code, retryAt) })

/** Every effect succeeds, and the watch never ends. */
const happy: Record<string, TestEffect> = {
  checkHost: resolvesHere,
  obtainCertificate: issues,
  installCertificate: done,
  keepWatch: waits,
  releaseCertificate: done,
}

/** Returns these results in order, then waits. */
function inTurn(...responses: (object | TestEffect)[]): TestEffect {
  return (effectInput, signal) => {
    const next = responses.shift()
    if (next === undefined) return forever(signal)
    return typeof next === 'function' ? next(effectInput, signal) : Promise.resolve(next)
  }
}

const start = (changes: Record<string, TestEffect> = {}) =>
  runMachine(machine, { ...happy, ...changes }, { input })
const recordOf = ({ actor }: Run) => toRecord(actor.getSnapshot() as CertificateSnapshot)
const eventLoopTurns = async (count = 20) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}
const retry = ({ actor }: Run, at = instant) => actor.send({ type: 'retry', at, by: 'Ada' })

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

// The attempts of a certificate: the backoff per failure, and what stays valid while attempts fail.

const at = (afterMs: number) => new Date(Date.parse(instant) + afterMs).toISOString()

const short = { first: hourMs / 60, longest: hourMs }
const pauses: Record<string, { first: number; longest: number }> = {
  host_elsewhere: short,
  acme_unreachable: short,
  acme_rate_limited: { first: hourMs, longest: 12 * hourMs },
  acme_rejected: { first: hourMs / 4, longest: 12 * hourMs },
  acme_challenge_failed: { first: hourMs / 4, longest: 12 * hourMs },
}

for (const [code, { first, longest }] of Object.entries(pauses)) {
  const text = `${first / 60_000} minutes, then twice as long, up to ${longest / hourMs} hours`
  test(`after ${code} it waits ${text}`, async (t) => {
    const run = start({
      checkHost: troubled(code),
      keepWatch: inTurn(...Array(12).fill(news('due'))),
    })
    t.after(() => run.actor.stop())
    await eventLoopTurns(200)

    const waiting = run.snapshots
      .map((snapshot) => toRecord(snapshot as unknown as CertificateSnapshot))
      .filter(({ next_attempt_at }) => next_attempt_at !== null)
    const lasted = waiting.map(({ next_attempt_at }) => Date.parse(next_attempt_at!) - Date.parse(instant))
    const wanted = Array.from({ length: 13 }, (_, count) => Math.min(longest, first * 2 ** count))
    assert.deepEqual(lasted, wanted)
    const { status, error, hint, attempts } = recordOf(run)
    assert.deepEqual([status, error, hint, attempts], ['waiting', `it is ${code}`, 'do something', 13])
  })
}

test('a different problem resets the pause', async (t) => {
  const checks = inTurn(...[1, 2, 3].map(() => troubled('host_elsewhere')), troubled('edge_away'))
  const run = start({ checkHost: checks, keepWatch: inTurn(...Array(3).fill(news('due'))) })
  t.after(() => run.actor.stop())
  await eventLoopTurns(60)

  assert.equal(recordOf(run).next_attempt_at, at(60_000))
})

test('the time requested by the CA wins if it is later', async (t) => {
  const run = start({ obtainCertificate: troubled('acme_rate_limited', instant, at(30 * hourMs)) })
  t.after(() => run.actor.stop())
  await run.reached('waiting')
  assert.equal(recordOf(run).next_attempt_at, at(30 * hourMs))

  const soon = start({ obtainCertificate: troubled('acme_rate_limited', instant, at(1000)) })
  t.after(() => soon.actor.stop())
  await soon.reached('waiting')
  assert.equal(recordOf(soon).next_attempt_at, at(hourMs))
})

test('a manual retry starts immediately, unless the CA requires a pause', async (t) => {
  const run = start({
    checkHost: inTurn(troubled('host_elsewhere'), resolvesHere),
    obtainCertificate: inTurn(troubled('acme_rate_limited', instant, at(2 * hourMs)), issues),
  })
  t.after(() => run.actor.stop())
  await run.reached('waiting')

  retry(run)
  await eventLoopTurns()
  const heldSnapshot = run.actor.getSnapshot()
  retry(run, at(2 * hourMs - 1))
  assert.equal(run.actor.getSnapshot(), heldSnapshot)

  const again = runMachine(machine, happy, { snapshot: run.snapshots.at(-1)! })
  t.after(() => again.actor.stop())
  retry(again, at(2 * hourMs))
  await again.reached('valid')
})

test('a failed renewal leaves the certificate valid, with the reason', async (t) => {
  const run = start({
    checkHost: inTurn(resolvesHere, resolvesHere),
    obtainCertificate: inTurn(issues, troubled('acme_unreachable', renewsAt)),
    keepWatch: inTurn(news('due', null, renewsAt)),
  })
  t.after(() => run.actor.stop())
  await run.reached('waiting')

  const { status, error, not_after, next_attempt_at, attempts } = recordOf(run)
  assert.deepEqual([status, error, not_after], ['valid', 'it is acme_unreachable', validity.notAfter])
  assert.deepEqual([next_attempt_at, attempts], ['2026-03-02T00:01:00.000Z', 1])
})

test('a successful renewal replaces dates, reason and warnings', async (t) => {
  const next = { ...validity, notBefore: renewsAt, notAfter: '2026-06-01T00:00:00.000Z' }
  const watched: WatchInput[] = []
  const watch = inTurn(news('due'), news('warned', 21), news('due'))
  const run = start({
    obtainCertificate: inTurn(issues, troubled('acme_unreachable'), async () => ({
      at: renewsAt,
      validity: next,
      trouble: null,
    })),
    keepWatch: (effectInput, signal) => {
      watched.push(effectInput as unknown as WatchInput)
      return watch(effectInput, signal)
    },
  })
  t.after(() => run.actor.stop())
  await eventLoopTurns(60)

  const reported = watched.map(({ mayReplace, warnedDays }) => [mayReplace, warnedDays])
  assert.deepEqual(reported, [
    [true, null],
    [false, null],
    [false, 21],
    [true, null],
  ])
  const { status, error, not_after, attempts } = recordOf(run)
  assert.deepEqual([status, error, not_after, attempts], ['valid', null, next.notAfter, 0])
})

test('a certificate that expires before its renewal succeeds is expired until then', async (t) => {
  const run = start({
    obtainCertificate: inTurn(issues, troubled('acme_unreachable'), waits),
    keepWatch: inTurn(news('due'), news('expired'), news('due')),
  })
  t.after(() => run.actor.stop())
  await eventLoopTurns(60)

  assert.deepEqual([recordOf(run).status, recordOf(run).phase], ['expired', 'ordering'])
})

test('a certificate whose file is lost is requested again', async (t) => {
  const run = start({ obtainCertificate: inTurn(issues, waits), keepWatch: inTurn(news('lost')) })
  t.after(() => run.actor.stop())
  await eventLoopTurns(60)

  const { status, not_after } = recordOf(run)
  assert.deepEqual([status, not_after], ['ordering', null])
})

const problemWith = (code: string, failures: number, host = '*.apps.example.com') => {
  const due = inTurn(...Array(failures - 1).fill(news('due')))
  const effects = { ...happy, obtainCertificate: troubled(code), keepWatch: due }
  return runMachine(machine, effects, { input: { ...input, host, serviceId: null } })
}

test('after three failures a wildcard leaves its hosts to single certificates', async (t) => {
  for (const [code, failures, host, falls] of [
    ['dns_failed', 3, undefined, true],
    ['acme_challenge_failed', 4, undefined, true],
    ['acme_rejected', 3, undefined, true],
    ['dns_failed', 2, undefined, false],
    ['acme_unreachable', 5, undefined, false],
    ['acme_rate_limited', 5, undefined, false],
    ['acme_challenge_failed', 5, 'shop.example.com', false],
  ] as const) {
    const run = problemWith(code, failures, host)
    t.after(() => run.actor.stop())
    await eventLoopTurns(100)
    const { attempts, error, fallback } = recordOf(run)
    assert.deepEqual([attempts, fallback], [failures, falls], `${code}, ${failures} failures`)
    assert.equal(/; until it is issued, the hosts below it get/.test(error!), falls)
  }
})

test('a wildcard that is issued later replaces the single certificates', async (t) => {
  const responses = [...Array(3).fill(troubled('dns_failed')), { at: instant, validity, trouble: null }]
  const run = runMachine(
    machine,
    {
      ...happy,
      obtainCertificate: inTurn(...responses),
      keepWatch: inTurn(...Array(3).fill(news('due'))),
    },
    { input: { ...input, host: '*.apps.example.com' } },
  )
  t.after(() => run.actor.stop())
  await run.reached('valid')
  const seen = run.snapshots.map((snapshot) => toRecord(snapshot as unknown as CertificateSnapshot).fallback)
  assert.ok(seen.includes(true))
  assert.deepEqual([recordOf(run).fallback, recordOf(run).error], [false, null])
})
