// The charts as the dashboard shows them: complete, in words, and with nothing drawn over something else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toChartGraph } from '../../machines/graph.ts'
import { catalogue, type Kind } from '../../machines/index.ts'
import { layOut } from '../../src/dashboard/build/layout-charts.ts'
import { eventWords, guardWords, labelOf } from '../../src/dashboard/chart/words.ts'

for (const [kind, { machine }] of Object.entries<Kind>(catalogue)) {
  const graph = toChartGraph(machine)
  const layout = layOut(graph, labelOf)

  test(`${kind}: every state is drawn, and every transition as one arrow or in one`, async () => {
    const { states, edges, lines, starts } = await layout

    assert.deepEqual(
      states.map(({ id }) => id),
      [...statesOf(machine.root)],
    )
    assert.equal(
      edges.reduce((sum, { via }) => sum + Math.max(1, via.length), 0),
      [...transitionsOf(machine.root)].length,
    )
    assert.ok(edges.every(({ line }) => lines[line]!.points.length >= 2))
    assert.equal(starts.length, states.filter(({ isInitial }) => isInitial).length)
    const leaves = states.filter(({ kind }) => kind === 'atomic' || kind === 'final')
    const labels = lines.flatMap(({ label }) =>
      label ? [{ ...label, id: `label ${label.rows[0]!.text}` }] : [],
    )
    const boxes = [...leaves, ...labels]
    for (const [index, one] of boxes.entries())
      for (const other of boxes.slice(index + 1)) {
        const isBeside = one.x + one.width <= other.x || other.x + other.width <= one.x
        const isBelow = one.y + one.height <= other.y || other.y + other.height <= one.y
        assert.ok(isBeside || isBelow, `${one.id} covers ${other.id}`)
      }
  })

  test(`${kind}: a second layout is the same`, async () => {
    assert.deepEqual(await layOut(graph, labelOf), await layout)
  })

  test(`${kind}: every guard and every event has words`, () => {
    for (const { event, guard } of graph.edges) {
      if (guard !== null) assert.ok(guardWords[guard], guard)
      if (!/(^|\.)(done|failed)$|^$/.test(event)) assert.ok(eventWords[event], event)
    }
  })
}

function* statesOf(node: Kind['machine']['root']): Generator<string> {
  yield node.path.join('.')
  for (const child of Object.values(node.states)) yield* statesOf(child)
}

function* transitionsOf(node: Kind['machine']['root']): Generator<string> {
  for (const { eventType } of [...node.transitions.values()].flat()) yield eventType
  for (const { eventType } of node.always ?? []) yield eventType
  for (const child of Object.values(node.states)) yield* transitionsOf(child)
}
