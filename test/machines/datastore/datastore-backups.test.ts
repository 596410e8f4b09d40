// Scheduled backups of a datastore: started when due, once each, also after a restart.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { machine } from '../../../machines/datastore/datastore.ts'
import { once, path, recordOf, start, turn, waits, working } from '../../support/machines/datastore-chart.ts'
import { instant } from '../../support/machines/deploy-chart.ts'
import { forever, pathOf, runMachine, type TestEffect } from '../../support/machines/machine-run.ts'

const due: TestEffect = async () => ({ at: '2026-01-01T03:00:00.000Z', backupId: 'bak-1' })
const plan = { type: 'backups.set', at: instant, by: 'Ada' }

test('a schedule waits for its time, starts that backup, and waits for the next', async () => {
  const requests: unknown[] = []
  const run = start({
    awaitBackupTime: once(due, waits),
    beginBackup: async ({ backupId }) => {
      requests.push(backupId)
      return { at: instant }
    },
  })
  await run.reached(path('available'))
  run.actor.send({ ...plan, schedule: '0 3 * * *' })
  while (run.started.filter((name) => name === 'awaitBackupTime').length < 2) await turn()

  assert.deepEqual(requests, ['bak-1'])
  const { backup_schedule, backup_keep, backups_since } = recordOf(run)
  assert.deepEqual(
    [backup_schedule, backup_keep, backups_since],
    ['0 3 * * *', 7, '2026-01-01T03:00:00.000Z'],
  )
  run.actor.stop()
})

test('an actor restarted while it starts a backup starts the same backup', async () => {
  const first = start({ awaitBackupTime: due, beginBackup: waits })
  first.actor.send({ ...plan, schedule: '@daily' })
  while (!first.started.includes('beginBackup')) await turn()
  first.actor.stop()
  const requests: unknown[] = []
  const beginBackup: TestEffect = async ({ backupId }) => {
    requests.push(backupId)
    return { at: instant }
  }
  const effects = { ...working, awaitBackupTime: waits, beginBackup }
  const run = runMachine(machine, effects, { snapshot: first.snapshots.at(-1)! })
  while (requests.length === 0) await turn()
  assert.deepEqual(requests, ['bak-1'])
  run.actor.stop()
})

test('a new schedule counts from now, and an empty one stops the backups', async () => {
  const waited: unknown[] = []
  const awaitBackupTime: TestEffect = ({ schedule, since }, signal) => {
    waited.push([schedule, since])
    return forever(signal)
  }
  const run = start({ awaitBackupTime })
  run.actor.send({ ...plan, schedule: '@daily' })
  run.actor.send({ ...plan, at: '2026-02-01T00:00:00.000Z', keep: 3 })
  run.actor.send({ ...plan, at: '2026-03-01T00:00:00.000Z', schedule: '@weekly' })
  await turn()
  assert.deepEqual(waited.at(0), ['@daily', instant])
  assert.deepEqual(waited.at(1), ['@daily', instant])
  assert.deepEqual(waited.at(-1), ['@weekly', '2026-03-01T00:00:00.000Z'])
  run.actor.send({ ...plan, schedule: null })
  await turn()
  const { backup_schedule, backup_keep } = recordOf(run)
  assert.deepEqual([backup_schedule, backup_keep], [null, 3])
  assert.match(pathOf(run.actor.getSnapshot().value), /backups\.off$/)
  run.actor.stop()
})
