// What an actor accepts in a state, and where an event would lead.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toChartGraph } from '../../machines/graph.ts'
import { catalogue } from '../../machines/index.ts'
import { layOut } from '../../src/dashboard/build/layout-charts.ts'
import { possibleEvents, reachedBy } from '../../src/dashboard/chart/accepted.ts'
import { positionIn } from '../../src/dashboard/chart/position.ts'
import { labelOf } from '../../src/dashboard/chart/words.ts'

const layouts = {
  deploy: await layOut(toChartGraph(catalogue.deploy.machine), labelOf),
  datastore: await layOut(toChartGraph(catalogue.datastore.machine), labelOf),
}

function eventsIn(kind: keyof typeof layouts, state: string) {
  const layout = layouts[kind]
  const { active } = positionIn(layout, [{ event: 'created', state }])
  return possibleEvents(layout, active)
}

test('a state accepts its own events and those of the states around it, with their conditions', () => {
  const events = eventsIn('deploy', 'running.building')

  assert.deepEqual(
    events.filter(({ event }) => !event.startsWith('build.')),
    [
      {
        event: 'buildImage.done',
        isCommand: false,
        ways: [
          { to: 'running.preparing', condition: 'there is a pre-deploy command', stays: false },
          { to: 'running.starting', condition: null, stays: false },
        ],
      },
      {
        event: 'cancel',
        isCommand: true,
        ways: [{ to: 'canceling', condition: null, stays: false }],
      },
      {
        event: 'buildImage.failed',
        isCommand: false,
        ways: [{ to: 'failing', condition: null, stays: false }],
      },
    ],
  )
})

test('an event reaches the first states inside, and passes states that only decide', () => {
  const state = 'wanted.life.failed wanted.limits.settled wanted.backups.beginning'
  const find = (name: string) => eventsIn('datastore', state).find(({ event }) => event === name)!

  assert.deepEqual([...reachedBy(layouts.datastore, find('awaitRetry.done'))].sort(), [
    'wanted.life.starting',
    'wanted.life.starting.pulling',
  ])
  assert.deepEqual([...reachedBy(layouts.datastore, find('beginBackup.done'))].sort(), [
    'wanted.backups.beginning',
    'wanted.backups.off',
    'wanted.backups.planning',
    'wanted.backups.waiting',
  ])
})

test('an actor at its end accepts nothing', () => {
  assert.deepEqual(eventsIn('deploy', 'failed'), [])
})
