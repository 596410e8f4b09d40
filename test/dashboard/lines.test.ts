// The main lines agree with the charts: neighbors are joined, and no state is forgotten.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ChartGraph, toChartGraph } from '../../machines/graph.ts'
import { catalogue, type Kind } from '../../machines/index.ts'
import { type Facts, lines } from '../../src/dashboard/chart/lines.ts'

const kinds = Object.entries<Kind>(catalogue)

/** What decides on the line of a kind; every subset is tried. */
const decisive: Record<string, string[]> = {
  deploy: ['running.preparing', 'live', 'running.switching'],
  datastore: [
    'saving',
    'trashing',
    'deleting',
    'reclaiming',
    'wanted.life.upgrading.checking',
    'wanted.life.starting.stopping',
  ],
  'git-connection': ['pending.registering', 'pending.installing', 'pending.authorizing', 'exchanging'],
  'job-run': ['connecting'],
  'service-removal': ['trashing'],
}
const facts: Facts[] = (['git', 'archive', 'image', 'reuse'] as const).flatMap((source) =>
  [true, false].flatMap((hasPreDeploy) =>
    [true, false].map((isOnSchedule) => ({ source, hasPreDeploy, isOnSchedule })),
  ),
)

for (const [kind, { machine }] of kinds.filter(([kind]) => lines[kind])) {
  const { lineOf, ramps, regions, rests, waits } = lines[kind]!
  const graph = toChartGraph(machine)
  const all = facts.flatMap((fact) => subsetsOf(decisive[kind] ?? []).map((lap) => lineOf(fact, lap)))

  test(`${kind}: neighbors on a line are joined by a transition`, () => {
    for (const line of all)
      line.slice(1).forEach((to, index) => {
        assert.ok(isJoined(graph, line[index]!, to), `${line[index]} → ${to}`)
      })
  })

  test(`${kind}: every state is on a line, off it, or in another region`, () => {
    const known = new Set([...all.flat(), ...Object.keys(ramps)])
    const leaves = graph.states.filter(({ kind }) => kind === 'atomic' || kind === 'final')
    const forgotten = leaves.filter(({ id }) => {
      return !known.has(id) && !regions.some((region) => id.startsWith(`${region}.`))
    })
    assert.deepEqual(
      forgotten.map(({ id }) => id),
      [],
    )
    const ids = leaves.map(({ id }) => id)
    for (const id of [...known, ...rests, ...waits]) assert.ok(ids.includes(id), id)
  })
}

test('what has no line repeats itself, or belongs to a disk', () => {
  const without = kinds.map(([kind]) => kind).filter((kind) => !lines[kind])
  const known = [
    'alert',
    'auto-deploy',
    'commit-status',
    'cron-schedule',
    'disk-chown',
    'disk-removal',
    'edge',
    'notification',
  ]
  assert.deepEqual(without.sort(), known)
})

function subsetsOf(states: string[]): string[][] {
  const [first, ...rest] = states
  if (first === undefined) return [[]]
  return subsetsOf(rest).flatMap((set) => [set, [first, ...set]])
}

function isJoined({ states, edges }: ChartGraph, from: string, to: string): boolean {
  const isAround = (outer: string, inner: string) => outer === inner || inner.startsWith(`${outer}.`)
  const entered = (id: string): string[] => {
    const children = states.filter(({ parent }) => parent === id)
    const isParallel = states.find((state) => state.id === id)?.kind === 'parallel'
    const next = children.filter(({ isInitial }) => isParallel || isInitial)
    return next.length === 0 ? [id] : next.flatMap((child) => entered(child.id))
  }
  return edges.some(
    (edge) =>
      (edge.via.length > 0 ? edge.via : [edge.from]).some((source) => isAround(source, from)) &&
      entered(edge.to).includes(to),
  )
}
