// The chart of automatic deploys: heads, verdicts, failures and changes of the plan.
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import {
  type AutoDeployPlan,
  type AutoDeployRecord,
  type AutoDeploySnapshot,
  machine,
  toRecord,
} from '../../machines/auto-deploy.ts'
import {
  continueFrom,
  forever,
  pathOf,
  type Run,
  runMachine,
  type TestEffect,
} from '../support/machines/machine-run.ts'

const made = '2026-01-01T00:00:00.000Z'
const at = '2026-01-01T01:00:00.000Z'
const later = '2026-01-01T02:00:00.000Z'
const plan: AutoDeployPlan = {
  source: 'https://git.test/shop main',
  pollSeconds: 300,
  obstacle: null,
  waitsForChecks: false,
  needsChecks: false,
}
const rolledBack: AutoDeployPlan = { ...plan, obstacle: 'rolled_back' }
const onChecks: AutoDeployPlan = { ...plan, waitsForChecks: true }
const own = { id: 'aut-1', serviceId: 'svc-1' }
const unread = { code: 'git_remote_unreachable', message: 'cannot read it' }

const found = (head: string) => ({ at, head, problem: null })
const failed = (when = at, problem = unread) => ({ at: when, head: null, problem })
const planned = (next: AutoDeployPlan | null) => ({ at, plan: next })
const deploys = { at, deployId: 'dep-1', reason: 'the branch has a new head', isOutdated: false }
const skips = { at, deployId: null, reason: 'its message asks for no deploy', isOutdated: false }
const seen = (outcome: string, reason?: string, when = later) => ({ at: when, checks: { outcome, reason } })
const pending = seen('pending')
const passed = seen('passed', 'its checks passed')
const checksFailed = seen('failed', 'its check test failed')
const outdated = { at, deployId: null, reason: '', isOutdated: true }

/** Returns these results in order, then waits. */
function inTurn(...responses: unknown[]): TestEffect {
  let count = 0
  return (_, signal) => (count < responses.length ? Promise.resolve(responses[count++]) : forever(signal))
}

const rejects: TestEffect = () => Promise.reject({ ...unread, at })

const asMade: AutoDeployRecord = {
  id: 'aut-1',
  service_id: 'svc-1',
  status: 'watching',
  phase: null,
  source: plan.source,
  obstacle: null,
  decision: null,
  checks: null,
  failing_since: null,
  error: null,
  error_code: null,
  error_details: null,
  created_at: made,
}
const waitsFor = 'it waits for its checks'
const deployed = { head: 'a1', at, deploy_id: 'dep-1', reason: deploys.reason }
const failing = {
  ...asMade,
  phase: 'failed: cannot read it',
  failing_since: at,
  error: 'cannot read it',
  error_code: 'git_remote_unreachable' as const,
}

const waiting: AutoDeployRecord = {
  ...asMade,
  status: 'checking',
  phase: waitsFor,
  decision: { head: 'a1', at, deploy_id: null, reason: waitsFor },
  checks: 'pending',
}
const toChecks = ['watching', 'deciding', 'checking']

interface Telling {
  effects: Record<string, TestEffect>
  from?: AutoDeployPlan
  states: string[]
  record: AutoDeployRecord
}

/** The states and the record after these steps. */
const views: Record<string, () => Telling> = {
  'has seen nothing yet': () => ({ effects: {}, states: ['watching'], record: asMade }),
  'is made paused': () => ({
    effects: {},
    from: rolledBack,
    states: ['paused'],
    record: { ...asMade, status: 'paused', obstacle: 'rolled_back' },
  }),
  'decides about a head': () => ({
    effects: { watchSource: inTurn(found('a1')) },
    states: ['watching', 'deciding'],
    record: { ...asMade, status: 'deciding', phase: 'found a1' },
  }),
  'is about to queue a deploy': () => ({
    effects: { watchSource: inTurn(found('a1')), decide: inTurn(deploys) },
    states: ['watching', 'deciding', 'deploying'],
    record: {
      ...asMade,
      status: 'deploying',
      phase: 'began dep-1: the branch has a new head',
      decision: deployed,
    },
  }),
  'has queued a deploy, and sees the same head again': () => ({
    effects: {
      watchSource: inTurn(found('a1'), found('a1')),
      decide: inTurn(deploys),
      beginDeploy: inTurn({ at, isBegun: true }),
    },
    states: ['watching', 'deciding', 'deploying', 'watching'],
    record: { ...asMade, phase: 'found a1', decision: deployed },
  }),
  'decides again about a head that its deploy could not read': () => ({
    effects: {
      watchSource: inTurn(found('a1'), { ...found('a1'), isAgain: true }),
      decide: inTurn(deploys),
      beginDeploy: inTurn({ at, isBegun: true }),
    },
    states: ['watching', 'deciding', 'deploying', 'watching', 'deciding'],
    record: { ...asMade, status: 'deciding', phase: 'found a1', decision: deployed },
  }),
  'forgets a verdict about former settings': () => ({
    effects: {
      watchSource: inTurn(found('a1')),
      decide: inTurn(deploys),
      beginDeploy: inTurn({ at, isBegun: false }),
    },
    states: ['watching', 'deciding', 'deploying', 'watching'],
    record: asMade,
  }),
  'finds a head that cannot be fetched again': () => ({
    effects: {
      watchSource: inTurn(found('a1'), { ...found('a1'), at: later }),
      decide: rejects,
    },
    states: ['watching', 'deciding', 'watching', 'deciding', 'watching'],
    record: failing,
  }),
  'has skipped a head': () => ({
    effects: { watchSource: inTurn(found('a1')), decide: inTurn(skips) },
    states: ['watching', 'deciding', 'watching'],
    record: {
      ...asMade,
      phase: 'no deploy: its message asks for no deploy',
      decision: { ...deployed, deploy_id: null, reason: skips.reason },
    },
  }),
  'reads an outdated head again': () => ({
    effects: { watchSource: inTurn(found('a1')), decide: inTurn(outdated) },
    states: ['watching', 'deciding', 'watching'],
    record: { ...asMade, phase: 'found a1' },
  }),
  'cannot read the source': () => ({
    effects: { watchSource: inTurn(failed()) },
    states: ['watching'],
    record: failing,
  }),
  'cannot read the source for another reason': () => ({
    effects: { watchSource: inTurn(failed(), failed(later, { ...unread, message: 'it is gone' })) },
    states: ['watching'],
    record: { ...failing, phase: 'failed: it is gone', error: 'it is gone' },
  }),
  'reads the source again': () => ({
    effects: { watchSource: inTurn(failed(), found('a1')), decide: inTurn(skips) },
    states: ['watching', 'deciding', 'watching'],
    record: {
      ...asMade,
      phase: 'no deploy: its message asks for no deploy',
      decision: { ...deployed, deploy_id: null, reason: skips.reason },
    },
  }),
  'cannot read what a head changes': () => ({
    effects: { watchSource: inTurn(found('a1')), decide: rejects },
    states: ['watching', 'deciding', 'watching'],
    record: failing,
  }),
  'is paused while it watches, and resumed': () => ({
    effects: { watchSource: inTurn(planned(rolledBack)), awaitPlan: inTurn(planned(plan)) },
    states: ['watching', 'paused', 'watching'],
    record: asMade,
  }),
  'forgets what it knew of another source': () => ({
    effects: {
      watchSource: inTurn(found('a1'), failed(), planned({ ...plan, source: 'https://git.test/other' })),
      decide: inTurn(skips),
    },
    states: ['watching', 'deciding', 'watching'],
    record: { ...asMade, phase: 'follows https://git.test/other', source: 'https://git.test/other' },
  }),
  'keeps what it knew of a source that was renamed': () => ({
    effects: {
      watchSource: inTurn(found('a1'), {
        ...planned({ ...plan, source: 'https://git.test/renamed' }),
        isRenamed: true,
      }),
      decide: inTurn(skips),
    },
    states: ['watching', 'deciding', 'watching'],
    record: {
      ...asMade,
      phase: 'follows https://git.test/renamed',
      source: 'https://git.test/renamed',
      decision: { ...deployed, deploy_id: null, reason: skips.reason },
    },
  }),
  'still fails when a head can be listed but not fetched': () => ({
    effects: {
      watchSource: inTurn(found('a1'), failed(), { ...found('a1'), isAgain: true }),
      decide: inTurn(skips),
    },
    states: ['watching', 'deciding', 'watching', 'deciding'],
    record: {
      ...failing,
      status: 'deciding',
      phase: 'found a1',
      decision: { ...deployed, deploy_id: null, reason: skips.reason },
    },
  }),
  'waits for checks': () => ({
    from: onChecks,
    effects: { watchSource: inTurn(found('a1')), decide: inTurn(deploys) },
    states: toChecks,
    record: waiting,
  }),
  'does not wait for the checks of a head that is not deployed': () => ({
    from: onChecks,
    effects: { watchSource: inTurn(found('a1')), decide: inTurn(skips) },
    states: ['watching', 'deciding', 'watching'],
    record: {
      ...asMade,
      phase: 'no deploy: its message asks for no deploy',
      decision: { ...deployed, deploy_id: null, reason: skips.reason },
    },
  }),
  'decides again once the checks have passed': () => ({
    from: onChecks,
    effects: {
      watchSource: inTurn(found('a1')),
      decide: inTurn(deploys, deploys),
      awaitChecks: inTurn(passed),
    },
    states: [...toChecks, 'deciding', 'deploying'],
    record: {
      ...asMade,
      status: 'deploying',
      phase: 'began dep-1: its checks passed',
      decision: { ...deployed, reason: 'its checks passed' },
    },
  }),
  'deploys nothing that was deployed during the checks': () => ({
    from: onChecks,
    effects: {
      watchSource: inTurn(found('a1')),
      decide: inTurn(deploys, { ...skips, reason: 'dep-2 has this version' }),
      awaitChecks: inTurn(passed),
    },
    states: [...toChecks, 'deciding', 'watching'],
    record: {
      ...asMade,
      phase: 'no deploy: dep-2 has this version',
      decision: { ...deployed, deploy_id: null, reason: 'dep-2 has this version' },
    },
  }),
  'looks at the checks again if the head may have changed': () => ({
    from: onChecks,
    effects: {
      watchSource: inTurn(found('a1')),
      decide: inTurn(deploys, outdated),
      awaitChecks: inTurn(passed),
    },
    states: [...toChecks, 'deciding', 'checking'],
    record: { ...waiting, phase: 'its checks passed' },
  }),
  'keeps looking after a failed check': () => ({
    from: onChecks,
    effects: {
      watchSource: inTurn(found('a1')),
      decide: inTurn(deploys),
      awaitChecks: inTurn(checksFailed),
    },
    states: toChecks,
    record: {
      ...waiting,
      phase: 'its check test failed',
      decision: { ...waiting.decision!, at: later, reason: 'its check test failed' },
      checks: 'failed',
    },
  }),
  'waits again when the checks run again': () => ({
    from: onChecks,
    effects: {
      watchSource: inTurn(found('a1')),
      decide: inTurn(deploys),
      awaitChecks: inTurn(checksFailed, pending),
    },
    states: toChecks,
    record: { ...waiting, decision: { ...waiting.decision!, at: later } },
  }),
  'deploys what turned green at last': () => ({
    from: onChecks,
    effects: {
      watchSource: inTurn(found('a1')),
      decide: inTurn(deploys, deploys),
      awaitChecks: inTurn(checksFailed, passed),
    },
    states: [...toChecks, 'deciding', 'deploying'],
    record: {
      ...asMade,
      status: 'deploying',
      phase: 'began dep-1: its checks passed',
      decision: { ...deployed, reason: 'its checks passed' },
    },
  }),
  'finds a newer head during the checks': () => ({
    from: onChecks,
    effects: {
      watchSource: inTurn(found('a1')),
      decide: inTurn(deploys),
      awaitChecks: inTurn(found('b2')),
    },
    states: [...toChecks, 'deciding'],
    record: { ...waiting, status: 'deciding', phase: 'found b2', checks: null },
  }),
  'cannot read the checks': () => ({
    from: onChecks,
    effects: {
      watchSource: inTurn(found('a1')),
      decide: inTurn(deploys),
      awaitChecks: inTurn(failed()),
    },
    states: toChecks,
    record: {
      ...waiting,
      phase: 'failed: cannot read it',
      failing_since: at,
      error: 'cannot read it',
      error_code: 'git_remote_unreachable',
    },
  }),
  'can read the checks again': () => ({
    from: onChecks,
    effects: {
      watchSource: inTurn(found('a1')),
      decide: inTurn(deploys),
      awaitChecks: inTurn(failed(), pending),
    },
    states: toChecks,
    record: { ...waiting, decision: { ...waiting.decision!, at: later } },
  }),
  'is paused during the checks, and decides again when it is resumed': () => ({
    from: onChecks,
    effects: {
      watchSource: inTurn(found('a1'), found('a1')),
      decide: inTurn(deploys),
      awaitChecks: inTurn(planned({ ...onChecks, obstacle: 'suspended' })),
      awaitPlan: inTurn(planned(onChecks)),
    },
    states: [...toChecks, 'paused', 'watching', 'deciding'],
    record: { ...asMade, status: 'deciding', phase: 'found a1' },
  }),
  'polls at another interval during the checks': () => ({
    from: onChecks,
    effects: {
      watchSource: inTurn(found('a1')),
      decide: inTurn(deploys),
      awaitChecks: inTurn(planned({ ...onChecks, pollSeconds: 60 })),
    },
    states: toChecks,
    record: { ...waiting, phase: null },
  }),
  'no longer waits for checks': () => ({
    from: onChecks,
    effects: {
      watchSource: inTurn(found('a1'), found('a1')),
      decide: inTurn(deploys, deploys),
      awaitChecks: inTurn(planned(plan)),
    },
    states: [...toChecks, 'watching', 'deciding', 'deploying'],
    record: {
      ...asMade,
      status: 'deploying',
      phase: 'began dep-1: the branch has a new head',
      decision: deployed,
    },
  }),
  'has lost its service during the checks': () => ({
    from: onChecks,
    effects: {
      watchSource: inTurn(found('a1')),
      decide: inTurn(deploys),
      awaitChecks: inTurn(planned(null)),
    },
    states: [...toChecks, 'ended'],
    record: { ...waiting, status: 'ended' },
  }),
  'has lost its service': () => ({
    effects: { watchSource: inTurn(planned(null)) },
    states: ['watching', 'ended'],
    record: { ...asMade, status: 'ended' },
  }),
  'has lost its service while it was paused': () => ({
    effects: { awaitPlan: inTurn(planned(null)) },
    from: rolledBack,
    states: ['paused', 'ended'],
    record: { ...asMade, status: 'ended', obstacle: 'rolled_back' },
  }),
}

test('a head is a push if the first look is over, or if its branch was not there', async () => {
  const missing = failed(at, { code: 'source_not_found', message: 'no such branch' })
  const looks: [unknown[], boolean][] = [
    [[found('a1')], false],
    [[{ at, head: null, problem: null }, found('a1')], true],
    [[failed(), found('a1')], false],
    [[missing, found('a1')], true],
    [[{ ...planned({ ...plan, source: 'https://git.test/other' }) }, found('a1')], false],
  ]
  for (const [seenBefore, isPush] of looks) {
    const decide = mock.fn<TestEffect>((_, signal) => forever(signal))
    const effects = { watchSource: inTurn(...seenBefore), decide }
    const { actor } = runMachine(machine, effects, { input: { ...own, plan, at: made } })
    for (let turns = 0; turns < 10; turns++) await tick()
    assert.equal((decide.mock.calls[0]!.arguments[0] as { isPush: boolean }).isPush, isPush)
    actor.stop()
  }
})

const recordOf = ({ actor }: Run) => toRecord(actor.getSnapshot() as AutoDeploySnapshot)
const tick = () => new Promise((resolve) => setImmediate(resolve))

for (const [what, tell] of Object.entries(views)) {
  test(`an automatic deploy that ${what} shows just that, and continues from there`, async () => {
    const { effects, from = plan, states, record } = tell()
    const whole = runMachine(machine, effects, { input: { ...own, plan: from, at: made } })
    for (let turns = 0; turns < 10; turns++) await tick()
    assert.deepEqual([whole.states, recordOf(whole)], [states, record])
    const snapshot = whole.snapshots.at(-1)!
    whole.actor.stop()
    const { run, requests } = await continueFrom(machine, snapshot)

    assert.deepEqual([pathOf(run.actor.getSnapshot().value), recordOf(run)], [states.at(-1), record])
    const { context } = run.actor.getSnapshot() as AutoDeploySnapshot
    const { decision, problem, failedAt, failures, hasLooked } = context
    const watched = { ...own, plan: context.plan, decision, problem, failedAt, failures, hasLooked }
    const inputs: Record<string, unknown> = {
      watching: ['watchSource', watched],
      checking: ['awaitChecks', { ...watched, waiting: context.waiting }],
      paused: ['awaitPlan', { ...own, plan: context.plan }],
      deciding: ['decide', { ...own, plan: context.plan, head: context.found, decision, isPush: hasLooked }],
      deploying: ['beginDeploy', { ...own, plan: context.plan, head: 'a1', deployId: 'dep-1' }],
    }
    const last = states.at(-1)!
    assert.deepEqual(requests, last === 'ended' ? [] : [inputs[last]])
    run.actor.stop()
  })
}
