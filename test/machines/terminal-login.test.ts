// The chart of a terminal login: what its record shows in each state, and that every login ends.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  machine,
  migrate,
  type TerminalLoginInput,
  type TerminalLoginSnapshot,
  toRecord,
  version,
} from '../../machines/terminal-login.ts'
import { instant } from '../support/machines/deploy-chart.ts'
import {
  forever,
  pathOf,
  type Run,
  runMachine,
  type TestEffect,
  waits,
} from '../support/machines/machine-run.ts'

const input: TerminalLoginInput = {
  id: 'cli-1',
  bootId: 'boot-1',
  code: 'ACDE-FGHJ',
  name: 'laptop',
  secretHash: 'a'.repeat(64),
  address: '192.0.2.7',
  at: instant,
  expiresAt: '2026-01-01T00:10:00.000Z',
}

const succeeds: TestEffect = async () => ({ at: instant })
/** Time does not pass, and the token is issued immediately. */
const idleEffects = { awaitExpiry: waits, issueToken: succeeds, revokeToken: succeeds }

const grant = { role: 'deploy', services: ['svc-1'], expiresInDays: 7 }
const send = ({ actor }: Run, type: string) => actor.send({ type, at: instant, by: 'Ada', grant })
const stateOf = ({ actor }: Run) => pathOf(actor.getSnapshot().value)
const recordOf = ({ actor }: Run) => toRecord(actor.getSnapshot() as TerminalLoginSnapshot)
const turn = () => new Promise((resolve) => setImmediate(resolve))

interface State {
  /** The events that lead to this state. */
  events: string[]
  /** The effect that must not end, so that the login stays in this state. */
  slot?: string
  status: string
  isCollectable?: true
}

const states: Record<string, State> = {
  pending: { events: [], status: 'pending' },
  'approved.issuing': { events: ['approve'], slot: 'issueToken', status: 'approved' },
  'approved.waiting': { events: ['approve'], status: 'approved', isCollectable: true },
  denied: { events: ['deny'], status: 'denied' },
  revoking: { events: ['approve', 'expire'], slot: 'revokeToken', status: 'expired' },
  collected: { events: ['approve', 'collect'], status: 'collected' },
  told: { events: ['deny', 'tell'], status: 'told' },
  expired: { events: ['expire'], status: 'expired' },
}

/** Time that passes only when the test advances it. */
function openClock() {
  let pass = () => {}
  const passed = () =>
    new Promise((resolve) => {
      pass = () => resolve({ at: instant })
    })
  const awaitExpiry: TestEffect = (_, signal) => Promise.race([passed(), forever(signal)])
  return { awaitExpiry, expire: () => pass() }
}

/** Runs the login until it stays in that state. */
async function runTo(name: string): Promise<Run> {
  const { events: played, slot } = states[name]!
  const { awaitExpiry, expire } = openClock()
  const heldSlot = slot === undefined ? {} : { [slot]: waits }
  const run = runMachine(machine, { ...idleEffects, awaitExpiry, ...heldSlot }, { input })
  for (const event of played) {
    if (event === 'expire') expire()
    else send(run, event)
    await turn()
  }
  assert.equal(stateOf(run), name)
  return run
}

for (const [name, { status, isCollectable = false }] of Object.entries(states)) {
  test(`while ${name} it is ${status}, its token ${isCollectable ? 'there' : 'not'} to collect`, async () => {
    const run = await runTo(name)
    assert.deepEqual([recordOf(run).status, recordOf(run).is_collectable], [status, isCollectable])
    run.actor.stop()
  })
}

interface Life {
  answer: 'approve' | 'deny' | null
  /** The terminal polls after the decision. */
  isPolled: boolean
  end: string
}

const lives: Record<string, Life> = {
  'approved and collected': { answer: 'approve', isPolled: true, end: 'collected' },
  'approved and never collected': { answer: 'approve', isPolled: false, end: 'expired' },
  'denied and notified': { answer: 'deny', isPolled: true, end: 'told' },
  'denied and never notified': { answer: 'deny', isPolled: false, end: 'expired' },
  'never answered': { answer: null, isPolled: true, end: 'expired' },
}

async function live({ answer, isPolled }: Life, from: Parameters<typeof runMachine>[2]): Promise<Run> {
  const { awaitExpiry, expire } = openClock()
  const run = runMachine(machine, { ...idleEffects, awaitExpiry }, from)
  const taken = { pending: answer, 'approved.waiting': isPolled && 'collect', denied: isPolled && 'tell' }
  while (run.actor.getSnapshot().status === 'active') {
    const event = taken[stateOf(run) as keyof typeof taken]
    if (event) send(run, event)
    else if (event !== undefined) expire()
    await turn()
  }
  return run
}

for (const [name, life] of Object.entries(lives)) {
  test(`from every snapshot of a login that was ${name}, a fresh actor reaches the same end`, async () => {
    const whole = await live(life, { input })
    assert.equal(stateOf(whole), life.end)
    for (const snapshot of whole.snapshots.filter(({ status }) => status === 'active')) {
      const run = await live(life, { snapshot })
      assert.equal(stateOf(run), life.end)
      assert.deepEqual(recordOf(run), recordOf(whole))
    }
  })
}

test('a restarted actor does not issue a second token', async () => {
  const waiting = await runTo('approved.waiting')
  const run = runMachine(machine, idleEffects, { snapshot: waiting.snapshots.at(-1)! })
  send(run, 'collect')
  assert.deepEqual([run.started, stateOf(run)], [['awaitExpiry'], 'collected'])
})

test('each effect receives only the input it needs, and never the token', async () => {
  const inputs: [string, unknown][] = []
  const noting = Object.entries({ ...idleEffects, awaitExpiry: waits }).map(([name, effect]) => {
    const noted: TestEffect = (effectInput, signal) => {
      inputs.push([name, effectInput])
      return effect(effectInput, signal)
    }
    return [name, noted] as const
  })
  const { snapshots } = await runTo('approved.waiting')
  const run = runMachine(machine, Object.fromEntries(noting), { input })
  send(run, 'approve')
  await turn()
  run.actor.stop()
  const expiry = { id: 'cli-1', bootId: 'boot-1', expiresAt: input.expiresAt }
  assert.deepEqual(inputs, [
    ['awaitExpiry', expiry],
    ['issueToken', { id: 'cli-1', name: 'laptop', grant }],
    ['awaitExpiry', expiry],
  ])
  assert.doesNotMatch(JSON.stringify(snapshots), /bth_/)
})

test('the record contains the requester, the address and the expiry', async () => {
  const run = await runTo('pending')
  assert.deepEqual(recordOf(run), {
    id: 'cli-1',
    status: 'pending',
    code: 'ACDE-FGHJ',
    name: 'laptop',
    created_at: instant,
    expires_at: input.expiresAt,
    boot_id: 'boot-1',
    secret_hash: input.secretHash,
    address: '192.0.2.7',
    is_collectable: false,
  })
  run.actor.stop()
})

test('a version 1 snapshot counts as approved with all rights', () => {
  const snapshot = { value: 'pending', status: 'active', context: { id: 'cli-1', name: 'laptop' } }

  const grant = { role: 'admin', services: null, expiresInDays: null }
  assert.deepEqual(migrate(snapshot, 1), { ...snapshot, context: { ...snapshot.context, grant } })
  assert.equal(version, 2)
})
