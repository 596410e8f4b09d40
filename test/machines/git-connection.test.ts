// The chart of a git connection: what each event and each outcome does in each state.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type GitConnectionSnapshot,
  machine,
  toRecord,
} from '../../machines/git-connection/git-connection.ts'
import type { GitAccount, GitConnectionInput } from '../../machines/git-connection/git-connection-context.ts'
import { instant } from '../support/machines/deploy-chart.ts'
import {
  forever,
  pathOf,
  type Run,
  runMachine,
  type TestEffect,
  waits,
} from '../support/machines/machine-run.ts'

const account: GitAccount = {
  login: 'ada',
  name: null,
  scopes: [],
  manageUrl: null,
  repositorySelection: null,
  installationId: null,
  tokenExpiresAt: null,
  tokenHint: null,
  accessExpiresAt: '2026-01-01T02:00:00.000Z',
}
const app = { slug: 'berth', url: 'https://github.com/apps/berth', clientId: 'Iv1' }

const inputs = {
  app: inputOf({ auth: 'github_app' }),
  oauth: inputOf({ auth: 'oauth', provider: 'gitlab' }),
  authorized: inputOf({ auth: 'oauth', provider: 'gitlab', account }),
  token: inputOf({ auth: 'token', account: { ...account, accessExpiresAt: null, tokenExpiresAt: instant } }),
}

function inputOf(fields: Partial<GitConnectionInput>): GitConnectionInput {
  return {
    id: 'git-1',
    provider: 'github',
    baseUrl: 'https://github.com',
    auth: 'github_app',
    organization: null,
    clientId: null,
    account: null,
    at: instant,
    ...fields,
  } as GitConnectionInput
}

const idle = {
  awaitExpiry: waits,
  exchangeGrant: waits,
  awaitRenewal: waits,
  renewTokens: waits,
  removeSecrets: waits,
}
const resolves =
  (output: object): TestEffect =>
  async () => ({ at: instant, ...output })
const rejects =
  (code: string): TestEffect =>
  () =>
    Promise.reject({ code, message: 'the reason', at: instant })

const start = (input: object, effects: Record<string, TestEffect> = {}) =>
  runMachine(machine, { ...idle, ...effects }, { input })
const send = ({ actor }: Run, type: string, fields: object = {}) =>
  actor.send({ type, at: instant, by: 'Ada', ...fields })
const stateOf = ({ actor }: Run) => pathOf(actor.getSnapshot().value)
const recordOf = ({ actor }: Run) => toRecord(actor.getSnapshot() as GitConnectionSnapshot)
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Runs until nothing more happens. */
async function settle(run: Run): Promise<Run> {
  for (let count = 0; count < 5; count++) await turn()
  return run
}

for (const [name, input, state, status] of [
  ['an app', inputs.app, 'pending.registering', 'pending'],
  ['an OAuth application', inputs.oauth, 'pending.authorizing', 'pending'],
  ['an authorized account', inputs.authorized, 'connected.idle', 'connected'],
] as const) {
  test(`a connection with ${name} starts in ${state} and is ${status}`, () => {
    const run = start(input)
    assert.deepEqual([stateOf(run), recordOf(run).status], [state, status])
    run.actor.stop()
  })
}

test('an app is registered, installed and connected', async () => {
  const outputs = [
    { result: 'registered', app, owner: 'acme' },
    { result: 'connected', account },
  ]
  const exchangeGrant: TestEffect = async () => ({ at: instant, ...outputs.shift() })
  const run = start(inputs.app, { exchangeGrant })
  send(run, 'callback')
  assert.equal(recordOf(run).phase, 'exchanging')
  await settle(run)
  assert.equal(stateOf(run), 'pending.installing')
  assert.equal(recordOf(run).account, 'acme')
  assert.equal(recordOf(run).app_url, app.url)
  send(run, 'callback')
  await settle(run)
  assert.equal(stateOf(run), 'connected.idle')
  assert.equal(recordOf(run).account, 'ada')
  run.actor.stop()
})

const exchanges: Record<string, { input: object; before?: string[]; rest: string; status: string }> = {
  registering: { input: inputs.app, rest: 'pending.registering', status: 'pending' },
  authorizing: { input: inputs.oauth, rest: 'pending.authorizing', status: 'pending' },
  connected: { input: inputs.authorized, rest: 'connected.idle', status: 'connected' },
  invalid: { input: inputs.authorized, before: ['invalidate'], rest: 'invalid', status: 'invalid' },
}

for (const [name, { input, before = [], rest, status }] of Object.entries(exchanges)) {
  test(`an exchange that fails while ${name} leaves the connection as it was, with the reason`, async () => {
    const run = start(input, { exchangeGrant: rejects('git_authorization_rejected') })
    for (const event of before) send(run, event, { reason: 'revoked', message: 'rejected' })
    send(run, 'callback')
    assert.equal(recordOf(run).status, status)
    await settle(run)
    assert.equal(stateOf(run), rest)
    assert.equal(recordOf(run).error, 'the reason')
    run.actor.stop()
  })
}

test('an authorization of another account ends a pending connection and keeps a connected one', async () => {
  const merged = resolves({ result: 'merged', into: 'git-2', app: null })
  for (const [input, state] of [
    [inputs.oauth, 'removing'],
    [inputs.authorized, 'connected.idle'],
  ] as const) {
    const run = start(input, { exchangeGrant: merged })
    send(run, 'callback')
    await settle(run)
    assert.equal(stateOf(run), state)
    assert.equal(recordOf(run).merged_into, 'git-2')
    run.actor.stop()
  }
})

test('a pending authorization ends after a day, but an app that exists at the provider stays', async () => {
  const wakeTimes: unknown[] = []
  const awaitExpiry: TestEffect = async (input) => {
    wakeTimes.push(input.wakeAt)
    return { at: instant }
  }
  for (const input of [inputs.app, inputs.oauth]) {
    const run = await settle(start(input, { awaitExpiry, removeSecrets: resolves({}) }))
    assert.deepEqual([stateOf(run), recordOf(run).status], ['deleted', 'deleted'])
  }
  const dayLater = Date.parse(instant) + 24 * 60 * 60 * 1000
  assert.deepEqual(wakeTimes, [dayLater, dayLater])
})

test('an access token is renewed five minutes before it expires', async () => {
  const times: unknown[] = []
  const renewed = '2026-01-01T04:00:00.000Z'
  const awaitRenewal: TestEffect = async ({ wakeAt }, signal) => {
    times.push(wakeAt)
    return times.length === 1 ? { at: instant } : forever(signal)
  }
  const effects = { awaitRenewal, renewTokens: resolves({ accessExpiresAt: renewed }) }
  const run = await settle(start(inputs.authorized, effects))
  const lead = 5 * 60 * 1000
  assert.deepEqual(times, [Date.parse(account.accessExpiresAt!) - lead, Date.parse(renewed) - lead])
  assert.equal(recordOf(run).access_expires_at, renewed)
  run.actor.stop()
})

test('a renewal that fails is repeated with growing pauses, and one that is rejected is not', async () => {
  const times: number[] = []
  const awaitRenewal: TestEffect = async ({ wakeAt }, signal) => {
    times.push(wakeAt as number)
    return times.length < 5 ? { at: instant } : forever(signal)
  }
  const failing = await settle(
    start(inputs.authorized, { awaitRenewal, renewTokens: rejects('git_provider_unavailable') }),
  )
  await settle(failing)
  await settle(failing)
  assert.equal(stateOf(failing), 'connected.idle')
  assert.equal(recordOf(failing).error, 'the reason')
  const pauses = times.slice(1).map((at) => (at - Date.parse(instant)) / 1000)
  assert.deepEqual(pauses, [30, 60, 120, 240])
  failing.actor.stop()

  const rejected = start(inputs.authorized, { renewTokens: rejects('git_authorization_rejected') })
  send(rejected, 'renew')
  await settle(rejected)
  assert.deepEqual([stateOf(rejected), recordOf(rejected).invalid_reason], ['invalid', 'revoked'])
  rejected.actor.stop()
})

test('a pasted token is watched until it expires', async () => {
  const times: unknown[] = []
  const awaitRenewal: TestEffect = async ({ wakeAt }) => {
    times.push(wakeAt)
    return { at: instant }
  }
  const run = await settle(start(inputs.token, { awaitRenewal }))
  assert.deepEqual(times, [Date.parse(instant)])
  assert.deepEqual([stateOf(run), recordOf(run).invalid_reason], ['invalid', 'expired'])
  run.actor.stop()
})

test('a new authorization of the same account replaces the current one in every state', async () => {
  for (const [input, events] of [
    [inputs.app, []],
    [inputs.oauth, ['callback']],
    [inputs.authorized, []],
    [inputs.authorized, ['renew']],
    [inputs.authorized, ['invalidate']],
  ] as const) {
    const run = start(input)
    for (const event of events) send(run, event, { reason: 'revoked', message: 'rejected' })
    send(run, 'replace', { auth: 'token', account: { ...account, tokenHint: 'cdef' }, app: null })
    assert.equal(stateOf(run), 'connected.idle')
    const { auth, token_hint, error, invalid_reason, app_url } = recordOf(run)
    assert.deepEqual([auth, token_hint, error, invalid_reason, app_url], ['token', 'cdef', null, null, null])
    run.actor.stop()
  }
})

test('a deletion removes the secrets from every state, and nothing revives the connection', async () => {
  for (const [input, event] of [
    [inputs.app, null],
    [inputs.oauth, 'callback'],
    [inputs.authorized, 'renew'],
    [inputs.authorized, 'invalidate'],
  ] as const) {
    const run = start(input)
    if (event) send(run, event, { reason: 'revoked', message: 'rejected' })
    send(run, 'delete')
    assert.deepEqual([stateOf(run), recordOf(run).status], ['removing', 'deleted'])
    const before = run.actor.getSnapshot()
    for (const late of ['replace', 'callback', 'delete'])
      send(run, late, { auth: 'token', account, app: null })
    assert.equal(run.actor.getSnapshot(), before)
    run.actor.stop()
  }
})

test('a fresh actor from any snapshot repeats the effect of its state and reaches the same end', async () => {
  const outputs = {
    registered: { result: 'registered', app, owner: 'ada' },
    connected: { result: 'connected', account },
  }
  const effects = (before: 'registered' | 'connected') => ({
    exchangeGrant: resolves(outputs[before]),
    renewTokens: resolves({ accessExpiresAt: null }),
    removeSecrets: resolves({}),
  })
  const whole = start(inputs.app, effects('registered'))
  send(whole, 'callback')
  await settle(whole)
  whole.actor.stop()
  for (const snapshot of whole.snapshots) {
    const run = runMachine(machine, { ...idle, ...effects('registered') }, { snapshot })
    await settle(run)
    if (stateOf(run) === 'pending.registering') send(run, 'callback')
    await settle(run)
    assert.equal(stateOf(run), 'pending.installing')
    assert.doesNotMatch(JSON.stringify(run.snapshots), /secret|private/i)
    run.actor.stop()
  }
})
