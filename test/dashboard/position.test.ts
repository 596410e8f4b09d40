// The place of a deploy in its chart, from its history.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as deployKind from '../../machines/deploy/deploy.ts'
import { toChartGraph } from '../../machines/graph.ts'
import type { HistoryEntry } from '../../src/api/actor.ts'
import { layOut } from '../../src/dashboard/build/layout-charts.ts'
import { positionIn } from '../../src/dashboard/chart/position.ts'
import { labelOf } from '../../src/dashboard/chart/words.ts'

function entriesOf(...steps: [event: string, state: string][]): HistoryEntry[] {
  return steps.map(([event, state], second) => ({
    at: new Date(second * 1000).toISOString(),
    event,
    state,
    status: 'running',
    phase: null,
    by: null,
    revision: second + 1,
    boot: 1,
  }))
}

const building = entriesOf(
  ['created', 'queued'],
  ['awaitTurn.done', 'running.fetching'],
  ['fetchSource.done', 'running.building'],
)

test('the chart shows the present state, the former ones and the transition between them', async () => {
  const layout = await layOut(toChartGraph(deployKind.machine), labelOf)
  const { active, past, next, taken } = positionIn(layout, building)
  assert.deepEqual([...active].sort(), ['running', 'running.building'])
  assert.deepEqual([...past].sort(), ['queued', 'running', 'running.fetching'])
  assert.ok(next.has('running.starting') && next.has('canceling') && next.has('failing'))
  const { from, to, event } = layout.edges[taken[0]!]!
  assert.deepEqual([from, to, event], ['running.fetching', 'running.building', 'fetchSource.done'])

  const failed = positionIn(layout, [...building, ...entriesOf(['buildImage.failed', 'failing'])])
  assert.deepEqual(layout.edges[failed.taken[0]!]!.via.includes('running.building'), true)
})
