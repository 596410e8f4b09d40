// The effects of a terminal login under a real supervisor on a real store: its token waits until it is
// collected, or is revoked with the login. A restart here is a new supervisor on the same store with
// another run id.
import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import * as terminalLogin from '../../machines/terminal-login.ts'
import { createCallers } from '../../src/account/callers.ts'
import { createTerminalLogins } from '../../src/account/terminal-logins.ts'
import { terminalLoginEffects } from '../../src/effects/terminal-login.ts'
import { Supervisor } from '../../src/supervisor/supervisor.ts'
import type { Storage } from '../../storage/index.ts'
import { forever } from '../support/machines/machine-run.ts'
import { eventually, silentLogger, temporaryStorage } from '../support/supervisor/supervision.ts'

type Effects = ReturnType<typeof terminalLoginEffects>
const minuteMs = 60_000
const grant = { role: 'deploy', services: ['svc-1'], expiresInDays: 7 }

/** One run of the daemon, as terminal logins see it. */
function boot(t: TestContext, storage: Storage, change: (real: Effects) => Partial<Effects> = () => ({})) {
  const terminalLogins = createTerminalLogins()
  const catalogue = { 'terminal-login': terminalLogin }
  const supervisor = new Supervisor({ storage, catalogue, logger: silentLogger })
  const real = terminalLoginEffects({ storage, terminalLogins })
  supervisor.provide({ 'terminal-login': { ...real, ...change(real) } })
  t.after(() => supervisor.stop(1000))

  async function ask(lifetimeMs: number): Promise<string> {
    const id = storage.ids.newId('cli')
    const now = Date.now()
    const times = { at: new Date(now).toISOString(), expiresAt: new Date(now + lifetimeMs).toISOString() }
    const who = { code: 'ACDE-FGHJ', name: 'laptop', secretHash: 'a'.repeat(64), address: '127.0.0.1' }
    const { bootId } = terminalLogins
    await supervisor.spawn('terminal-login', id, { id, bootId, ...who, ...times })
    return id
  }
  async function send(id: string, type: string): Promise<void> {
    const { applied } = await supervisor.send(id, { type, at: new Date().toISOString(), by: 'Ada', grant })
    equal(applied, true, type)
  }
  const hasBeen = (id: string, wanted: string) =>
    storage.actors.history(id).some(({ state }) => state === wanted)
  const reached = (id: string, state: string) => eventually(`${id} to be ${state}`, () => hasBeen(id, state))
  const approve = async (id: string) => {
    await send(id, 'approve')
    await reached(id, 'approved.waiting')
    return terminalLogins.uncollected.get(id)!
  }
  const { restore, stop } = { restore: () => supervisor.restore(), stop: () => supervisor.stop(1000) }
  return { ask, send, approve, reached, restore, stop, uncollected: terminalLogins.uncollected }
}

const isGood = (storage: Storage, token: string) => createCallers(storage).byToken(token) !== null

test('an approved login holds its token in memory until it is collected', async (t) => {
  const storage = await temporaryStorage(t)
  const { ask, approve, send } = boot(t, storage)
  const id = await ask(minuteMs)

  const token = await approve(id)
  equal(isGood(storage, token), true)
  await send(id, 'collect')

  equal(isGood(storage, token), true)
  const [row] = storage.tokens.list()
  deepEqual([row?.name, row?.hint], ['laptop', token.slice(-4)])
  deepEqual([row?.role, row?.services], ['deploy', ['svc-1']])
  equal(Date.parse(row!.expires_at!) - Date.parse(row!.created_at), 7 * 24 * 60 * minuteMs)
  equal(storage.actors.get(id)?.final, true)
})

test('an uncollected token is revoked when the login expires', async (t) => {
  const storage = await temporaryStorage(t)
  const { ask, approve, reached, uncollected } = boot(t, storage)
  const id = await ask(5000)

  const token = await approve(id)
  await reached(id, 'expired')

  deepEqual([isGood(storage, token), storage.tokens.list(), uncollected.size], [false, [], 0])
})

test('a login that expires while its token is created revokes it', async (t) => {
  const storage = await temporaryStorage(t)
  const tokens: string[] = []
  const daemon = boot(t, storage, (real) => ({
    async issueToken(input, signal) {
      await new Promise((resolve) => setTimeout(resolve, 3300))
      const issued = await real.issueToken(input, signal)
      tokens.push(daemon.uncollected.get(input.id)!)
      return issued
    },
  }))
  const id = await daemon.ask(3000)

  await daemon.send(id, 'approve')
  await daemon.reached(id, 'expired')

  equal(tokens.length, 1)
  deepEqual([isGood(storage, tokens[0]!), storage.tokens.list(), daemon.uncollected.size], [false, [], 0])
})

for (const response of [null, 'deny']) {
  test(`a login that was ${response ? 'denied' : 'never answered'} expires without a token`, async (t) => {
    const storage = await temporaryStorage(t)
    const { ask, send, reached } = boot(t, storage)
    const id = await ask(response ? 3000 : 500)

    if (response) await send(id, response)
    await reached(id, 'expired')

    deepEqual(storage.tokens.list(), [])
  })
}

const neverIssues = { issueToken: (_: object, signal: AbortSignal) => forever(signal) }
const interrupted: Record<string, { events: string[]; change: Partial<Effects> }> = {
  pending: { events: [], change: {} },
  denied: { events: ['deny'], change: {} },
  'approved.issuing': { events: ['approve'], change: neverIssues },
  'approved.waiting': { events: ['approve'], change: {} },
}

for (const [state, { events, change }] of Object.entries(interrupted)) {
  test(`a restart drops a login that is ${state}, and leaves no token of it`, async (t) => {
    const storage = await temporaryStorage(t)
    const first = boot(t, storage, () => change)
    const id = await first.ask(minuteMs)
    for (const event of events) await first.send(id, event)
    await first.reached(id, state)
    await first.stop()

    const next = boot(t, storage)
    deepEqual(await next.restore(), { restored: 1, parked: 0 })
    await next.reached(id, 'expired')

    deepEqual([storage.tokens.list(), next.uncollected.size], [[], 0])
    deepEqual([...storage.actors.active()], [])
  })
}

test('an approved token that was not collected before a restart is revoked after it', async (t) => {
  const storage = await temporaryStorage(t)
  const first = boot(t, storage)
  const id = await first.ask(minuteMs)
  const token = await first.approve(id)
  await first.stop()
  equal(isGood(storage, token), true)

  const next = boot(t, storage)
  await next.restore()
  await next.reached(id, 'expired')

  deepEqual([isGood(storage, token), storage.tokens.list()], [false, []])
})

test('a token that was collected before a restart stays valid', async (t) => {
  const storage = await temporaryStorage(t)
  const first = boot(t, storage)
  const id = await first.ask(minuteMs)
  const token = await first.approve(id)
  await first.send(id, 'collect')
  await first.stop()

  deepEqual(await boot(t, storage).restore(), { restored: 0, parked: 0 })

  equal(isGood(storage, token), true)
})

test('a token stored right before a kill, without its commit, is revoked after the restart', async (t) => {
  const storage = await temporaryStorage(t)
  const first = boot(t, storage, (real) => ({
    async issueToken(input, signal) {
      await real.issueToken(input, signal)
      return forever(signal)
    },
  }))
  const id = await first.ask(minuteMs)
  await first.send(id, 'approve')
  const [stored] = await eventually('the token', () => first.uncollected.size > 0 && storage.tokens.list())
  const token = first.uncollected.get(id)!
  await first.stop()
  equal(isGood(storage, token), true)

  const next = boot(t, storage, (real) => ({
    async issueToken(input, signal) {
      const issued = await real.issueToken(input, signal)
      // The repeated effect has replaced the one before.
      deepEqual(
        storage.tokens.list().map((one) => one.id),
        [stored!.id],
      )
      notEqual(next.uncollected.get(id), token)
      equal(isGood(storage, token), false)
      return issued
    },
  }))
  await next.restore()
  await next.reached(id, 'expired')

  deepEqual([storage.tokens.list(), next.uncollected.size], [[], 0])
})
