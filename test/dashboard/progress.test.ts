// The progress of an actor on its main line, from its history.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Facts } from '../../src/dashboard/chart/lines.ts'
import { type Entry, progressOf, type Step } from '../../src/dashboard/chart/progress.ts'

type Given = [state: string, event?: string, boot?: number]

/** One second passes between two entries. */
function entriesOf(...given: Given[]): Entry[] {
  return given.map(([state, event = 'x', boot = 1], second) => ({
    at: new Date(second * 1000).toISOString(),
    state,
    event,
    boot,
  }))
}

const queued: Given = ['queued']
const running = (key: string): Given => [`running.${key}`]
const toBuilding = [queued, running('fetching'), running('building')]
const toLive = [
  ...toBuilding,
  running('starting'),
  running('checking'),
  running('switching'),
  ['live'],
] as Given[]

function deploy(given: Given[], facts: Facts = { source: 'git' }): Step[] {
  return progressOf('deploy', facts, entriesOf(...given))!
}

const shown = (steps: Step[]) => steps.map(({ label, state, durationMs }) => [label, state, durationMs])
const labels = (steps: Step[]) => steps.map(({ label }) => label).join(' ')
const asides = (step: Step | undefined) => step?.asides.map(({ label, ramp }) => `${label}: ${ramp}`)

test('a deploy that builds has finished steps with their times, and others ahead', () => {
  assert.deepEqual(shown(deploy(toBuilding)), [
    ['Queued', 'done', 1000],
    ['Fetching', 'done', 1000],
    ['Building', 'current', null],
    ['Starting', 'ahead', null],
    ['Checking', 'ahead', null],
    ['Switching', 'ahead', null],
    ['Live', 'ahead', null],
  ])
})

test('a failure leaves the line at its step, and the cleanup follows there', () => {
  const cleaning = deploy([...toBuilding, ['failing']])
  assert.deepEqual(shown(cleaning)[2], ['Building', 'failed', 1000])
  assert.deepEqual(asides(cleaning[2]), ['Cleaning up: failed'])
  assert.equal(cleaning[3]!.state, 'ahead')

  const canceled = deploy([queued, ['canceling'], ['canceled']])
  assert.deepEqual(shown(canceled)[0], ['Queued', 'canceled', 1000])
  assert.deepEqual(asides(canceled[0]), ['Cleaning up: canceled', 'Canceled: canceled'])
})

test('the line depends on the source, the pre-deploy command and the kind of service', () => {
  const line = (facts: Facts, given: Given[] = [queued]) => labels(deploy(given, facts))
  const end = 'Starting Checking Switching Live'
  assert.equal(line({ source: 'image' }), `Queued Pulling ${end}`)
  assert.equal(line({ source: 'reuse', hasPreDeploy: true }), `Queued ${end}`)
  assert.equal(line({ source: 'archive', hasPreDeploy: true }), `Queued Fetching Building Preparing ${end}`)
  assert.equal(line({ source: 'git', isOnSchedule: true }), 'Queued Fetching Building Starting Live')
  // What happened counts, not the present setting.
  const past = [queued, running('pulling'), running('preparing'), running('starting'), ['live']] as Given[]
  assert.equal(line({ source: 'image', hasPreDeploy: false }, past), 'Queued Pulling Preparing Starting Live')
  assert.equal(line({}, past), 'Queued Pulling Preparing Starting Live')
  assert.equal(line({}, [queued, running('starting')]), `Queued ${end}`)
})

test('a live deploy is done, and what comes after it is off the line', () => {
  const replaced = deploy([...toLive, ['live', 'instances.reported'], ['draining'], ['deactivated']])
  assert.deepEqual(shown(replaced).at(-1), ['Live', 'done', null])
  assert.deepEqual(asides(replaced.at(-1)), ['Draining: after', 'Replaced: after'])
})

test('a parked deploy stops where it was, and a retry continues there', () => {
  const parked: Given[] = [...toBuilding, ['parked', 'parked']]
  assert.equal(deploy(parked)[2]!.state, 'parked')
  assert.equal(deploy([...parked, running('building')])[2]!.state, 'current')
})

test('waiting for a build slot is not building', () => {
  const waiting: Given[] = [...toBuilding, ['running.building', 'build.queued']]
  assert.deepEqual(shown(deploy(waiting))[2], ['Building', 'waiting', null])
  const built = deploy([...waiting, ['running.building', 'build.started'], running('starting')])
  assert.deepEqual([built[2]!.durationMs, built[2]!.waitedMs], [2000, 1000])
})

test('a step during which the server was restarted says so', () => {
  const [, fetching, building] = deploy([queued, running('fetching'), ['running.building', 'x', 2]])
  assert.deepEqual([fetching!.isResumed, building!.isResumed], [true, false])
})

test('an actor that starts over shows its present lap', () => {
  const renewed = progressOf(
    'certificate',
    {},
    entriesOf(['checking'], ['ordering'], ['waiting'], ['checking'], ['valid'], ['checking'], ['ordering']),
  )!
  assert.deepEqual(shown(renewed), [
    ['Checking', 'done', 1000],
    ['Ordering', 'current', null],
    ['Installing', 'ahead', null],
    ['Valid', 'ahead', null],
  ])
  const retried = progressOf(
    'backup',
    {},
    entriesOf(['running.dumping'], ['running.discarding'], ['running.waiting'], ['running.dumping']),
  )!
  assert.deepEqual([retried[0]!.state, retried[0]!.asides], ['current', []])
})

test('a datastore shows its life, and what it does now decides on its line', () => {
  const region = (life: string): Given => [`wanted.life.${life} wanted.limits.settled wanted.backups.off`]
  const start = [region('starting.pulling'), region('starting.starting'), region('starting.probing')]
  const datastore = (given: Given[]) => progressOf('datastore', {}, entriesOf(...given))!
  const live = [...start, region('available')]
  assert.equal(labels(datastore(live)), 'Pulling Starting Connecting Available')
  const upgrade = datastore([...live, region('upgrading.checking'), region('upgrading.copying')])
  assert.equal(labels(upgrade), 'Checking Copying Switching Pulling Starting Connecting Available')
  assert.equal(upgrade[1]!.state, 'current')
  assert.equal(labels(datastore([...live, ['saving'], ['trashing']])), 'Saving Trashing Trashed')
  assert.equal(datastore([...start, region('failed')])[2]!.state, 'failed')
})

test('a connection that registers an app is authorized twice', () => {
  const steps = progressOf(
    'git-connection',
    {},
    entriesOf(['pending.registering'], ['exchanging'], ['pending.installing'], ['exchanging']),
  )!
  assert.deepEqual(
    steps.map(({ label, state }) => `${label} ${state}`),
    ['Registering done', 'Authorizing done', 'Installing done', 'Authorizing current', 'Connected ahead'],
  )
})

test('a phase of 15 ms is a phase, and a chart without a main line has no progress', () => {
  const at = (ms: number) => new Date(ms).toISOString()
  const [first] = progressOf('job-run', {}, [
    { at: at(0), state: 'pending', event: 'created' },
    { at: at(15), state: 'running.starting', event: 'x' },
  ])!
  assert.deepEqual(shown([first!]), [['Waiting', 'done', 15]])
  assert.equal(progressOf('edge', {}, entriesOf(['serving'])), null)
})
