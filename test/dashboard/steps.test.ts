// The progress of a deploy and its place in the chart, from its record and its history.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as deployKind from '../../machines/deploy/deploy.ts'
import type { Deploy, HistoryEntry } from '../../src/api/deploy.ts'
import { toChartGraph } from '../../src/dashboard/build/chart-graph.ts'
import { layOut } from '../../src/dashboard/build/layout-charts.ts'
import { positionIn } from '../../src/dashboard/chart/position.ts'
import { labelOf } from '../../src/dashboard/chart/words.ts'
import { toSteps } from '../../src/dashboard/deploy/steps.ts'

function entriesOf(...steps: [event: string, state: string][]): HistoryEntry[] {
  return steps.map(([event, state], second) => ({
    at: new Date(second * 1000).toISOString(),
    event,
    state,
    status: 'running',
    phase: null,
    by: null,
  }))
}

const building = entriesOf(
  ['created', 'queued'],
  ['awaitTurn.done', 'running.fetching'],
  ['fetchSource.done', 'running.building'],
)

function deployOf(fields: Partial<Deploy>): Deploy {
  return { status: 'running', phase: null, source: { kind: 'git' }, ...fields } as Deploy
}

const shown = (deploy: Deploy, history: HistoryEntry[]) =>
  toSteps(deploy, history).map(({ name, state, durationMs }) => [name, state, durationMs])

test('a deploy that builds has finished steps with their times, and others ahead', () => {
  assert.deepEqual(shown(deployOf({ phase: 'building' }), building), [
    ['queued', 'done', 1000],
    ['fetching', 'done', 1000],
    ['building', 'current', null],
    ['starting', 'ahead', null],
    ['checking', 'ahead', null],
    ['switching', 'ahead', null],
    ['live', 'ahead', null],
  ])
})

test('the step that failed is marked, and its cleanup is not a step', () => {
  const history = [
    ...building,
    ...entriesOf(['buildImage.failed', 'failing'], ['removeTraces.done', 'failed']),
  ]
  const steps = shown(deployOf({ status: 'failed', phase: 'building' }), history)
  assert.deepEqual(steps[2]!.slice(0, 2), ['building', 'failed'])
  assert.deepEqual(steps[3]!.slice(0, 2), ['starting', 'ahead'])
})

test('a deploy that is parked failed where it was, and a retry makes it the present step again', () => {
  const parked = [...building, ...entriesOf(['parked', 'parked'])]
  const state = (history: HistoryEntry[]) => shown(deployOf({ phase: 'building' }), history)[2]!.slice(0, 2)
  assert.deepEqual(state(parked), ['building', 'failed'])
  assert.deepEqual(state([...parked, ...entriesOf(['retried', 'running.building'])]), ['building', 'current'])
})

test('the line depends on the source, the pre-deploy command and the kind of service', () => {
  const names = (deploy: Deploy, history: HistoryEntry[]) => toSteps(deploy, history).map(({ name }) => name)
  const live = entriesOf(
    ['created', 'queued'],
    ['x', 'running.preparing'],
    ['x', 'running.starting'],
    ['x', 'live'],
  )
  const image = deployOf({ status: 'live', source: { kind: 'image' } as Deploy['source'] })
  assert.deepEqual(names(image, live), ['queued', 'pulling', 'preparing', 'starting', 'live'])
})

test('the chart shows the present state, the former ones and the transition between them', async () => {
  const layout = await layOut(toChartGraph(deployKind.machine), labelOf)
  const { active, past, taken } = positionIn(layout, building)
  assert.deepEqual([...active].sort(), ['running', 'running.building'])
  assert.deepEqual([...past].sort(), ['queued', 'running', 'running.fetching'])
  const { from, to, event } = layout.edges[taken]!
  assert.deepEqual([from, to, event], ['running.fetching', 'running.building', 'fetchSource.done'])

  const failed = positionIn(layout, [...building, ...entriesOf(['buildImage.failed', 'failing'])])
  assert.deepEqual(layout.edges[failed.taken]!.via.includes('running.building'), true)
})
