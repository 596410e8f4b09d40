// The charts over HTTP: as graphs and Mermaid text, with the places of actors and the times of states.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { actorKinds } from '../../../src/api/actor.ts'
import type { Machine, MachineSummary } from '../../../src/api/machine.ts'
import { startChecked } from '../../support/http/checked-api.ts'
import { restingActors } from '../../support/storage/parked-kinds.ts'
import { serviceRow, transitionOf } from '../../support/storage/store-fixtures.ts'
import { instant as at } from '../../support/supervisor/supervision.ts'

test('every chart is a graph with a line for each state, and a Mermaid text', async (t) => {
  const { call, url } = await startChecked(t)
  const charts = (await call('GET', '/machines')).body as unknown as MachineSummary[]
  assert.deepEqual(
    charts.map(({ kind }) => kind),
    [...actorKinds],
  )
  for (const { kind, version, states } of charts) {
    const machine = (await call('GET', `/machines/${kind}`)).body as unknown as Machine
    assert.deepEqual([machine.version, machine.states.length], [version, states])
    assert.ok(machine.states.every(({ summary }) => summary !== null))
    const ids = new Set(machine.states.map(({ id }) => id))
    assert.ok(machine.edges.every(({ from, to }) => ids.has(from) && ids.has(to)))
    const response = await fetch(`${url}/api/v1/machines/${kind}.mmd?access_token=bth_test`)
    const reviewed = readFileSync(new URL(`../../fixtures/charts/${kind}.mmd`, import.meta.url), 'utf8')
    assert.deepEqual([response.status, await response.text()], [200, reviewed])
  }
  assert.equal((await call('GET', '/machines/unknown')).body.code, 'not_found')
})

test('actors count in each of their regions, parked ones where they were, ended ones not', async (t) => {
  const { call, storage } = await startChecked(t)
  await storage.services.create(serviceRow())
  const resting = restingActors()
  const datastore = resting.find(
    ({ kind, state }) => kind === 'datastore' && state.includes('life.available'),
  )!
  await storage.actors.create(datastore.transition)
  for (const id of ['dep-2', 'dep-3', 'dep-4', 'dep-5']) {
    const state = id === 'dep-3' ? 'running.building' : 'live'
    const entry = { at, event: 'created', state, status: 'running', phase: null, by: null }
    await storage.actors.create(transitionOf({ id, final: id === 'dep-5' }, { entry }))
  }
  await storage.actors.park('dep-3', 'a bug', at)

  const charts = (await call('GET', '/machines')).body as unknown as MachineSummary[]
  const actorsOf = (wanted: string) => charts.find(({ kind }) => kind === wanted)?.actors
  assert.deepEqual(actorsOf('deploy'), { 'running.building': 1, live: 2 })
  const places = datastore.state.split(' ').map((state) => [state, 1])
  assert.deepEqual(actorsOf('datastore'), Object.fromEntries(places))
  assert.deepEqual(actorsOf('edge'), {})
})

/** The seconds at which a deploy enters states. */
const slow: [second: number, state: string][] = [
  [0, 'queued'],
  [2, 'running.fetching'],
  [3, 'running.building'],
  [9, 'running.building'],
  [43, 'running.starting'],
  [44, 'live'],
]

test('the times of states come from the newest actors, with the limits of the server', async (t) => {
  const { call, storage } = await startChecked(t)
  await storage.services.create(serviceRow())
  const run = async (id: string, service_id: string, factor: number) => {
    for (const [index, [second, state]] of slow.entries()) {
      const at = new Date(Date.parse('2026-01-01T00:00:00.000Z') + second * factor * 1000).toISOString()
      const entry = { at, event: 'x', state, status: 'running', phase: null, by: null }
      const next = transitionOf({ id, service_id, revision: index + 1 }, { entry })
      await (index === 0 ? storage.actors.create(next) : storage.actors.advance(next))
    }
  }
  await run('dep-1', 'svc-1', 9)
  await run('dep-2', 'svc-1', 1)
  await run('dep-3', 'svc-2', 3)
  const read = async (query: string) => (await call('GET', `/machines/deploy/times?${query}`)).body

  const all = await read('last=2')
  assert.deepEqual(all.queued, { count: 2, median_ms: 2000, p90_ms: 6000, deadline_ms: null })
  const building = { count: 2, median_ms: 40_000, p90_ms: 120_000 }
  assert.deepEqual(all['running.building'], { ...building, deadline_ms: 1000 })
  assert.deepEqual(all.running, { count: 2, median_ms: 42_000, p90_ms: 126_000, deadline_ms: null })
  assert.equal(all.live, undefined)
  const own = await read('service=shop')
  assert.deepEqual(own.queued, { count: 2, median_ms: 2000, p90_ms: 18_000, deadline_ms: null })
  assert.deepEqual((await call('GET', '/machines/edge/times')).body, {})
})

test('a state that was left by parking has no time, and a retry enters it again', async (t) => {
  const { call, storage } = await startChecked(t)
  const created = transitionOf({ id: 'dep-1' })
  const time = (second: number) => new Date(Date.parse(at) + second * 1000).toISOString()
  await storage.actors.create(created)
  await storage.actors.park('dep-1', 'a bug', time(5))
  const { record } = created
  await storage.actors.unpark('dep-1', { record, state: 'queued', service: null, event: null, at: time(60) })
  const entry = { at: time(63), event: 'x', state: 'canceled', status: 'canceled', phase: null, by: null }
  await storage.actors.advance(transitionOf({ id: 'dep-1', revision: 4, final: true }, { entry }))

  const { queued } = (await call('GET', '/machines/deploy/times')).body
  assert.deepEqual(queued, { count: 1, median_ms: 3000, p90_ms: 3000, deadline_ms: null })
})
