// The schedule of backups of the server, and one that a user asked for.
import { deepEqual } from 'node:assert/strict'
import { syncBuiltinESMExports } from 'node:module'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { startServerBackupSchedule } from '../../../src/effects/server-backup/schedule.ts'
import type { ServerBackupPorts } from '../../../src/effects/server-backup/server-backup.ts'
import { silentLogger } from '../../support/supervisor/supervision.ts'

test('a scheduled backup waits for the one that is running, and is made then', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() })
  syncBuiltinESMExports()
  // The other files of this process import the same timers.
  t.after(() => {
    t.mock.timers.reset()
    syncBuiltinESMExports()
  })
  const created_at = '2020-01-01T00:00:00.000Z'
  const records = [
    { id: 'sbk-1', trigger: 'schedule', status: 'stored', created_at },
    { id: 'sbk-2', trigger: 'manual', status: 'running', created_at },
  ]
  const made: string[] = []
  const spawn = async (_: string, id: string, __: object, { also }: { also: () => void }) => {
    also()
    made.push(id)
    records.push({ id, trigger: 'schedule', status: 'running', created_at: new Date().toISOString() })
  }
  const stored = {
    active: () => records,
    record: (id: string) => records.find((one) => one.id === id),
  }
  const storage = {
    hold: { released: async () => undefined },
    ids: { newId: () => 'sbk-3' },
    actors: stored,
  }
  const serverBackups = { schedule: '* * * * *', place: 'folder', prefix: 'berth' }
  const ports = { storage, actors: { spawn }, logger: silentLogger, serverBackups }
  t.after(startServerBackupSchedule(ports as unknown as ServerBackupPorts))
  const passMinutes = async () => {
    for (let tick = 0; tick < 120; tick++) {
      for (let turn = 0; turn < 5; turn++) await setImmediate()
      t.mock.timers.tick(1000)
    }
  }

  await passMinutes()
  deepEqual(made, [])
  records[1]!.status = 'stored'
  await passMinutes()
  deepEqual(made, ['sbk-3'])
})
