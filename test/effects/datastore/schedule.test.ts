// When scheduled backups are due: one for all that were missed, never twice, and one at a time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextTime } from '../../../src/domain/schedule.ts'
import { awaitBackupTime, beginBackup } from '../../../src/effects/datastore/schedule.ts'
import { openBackupPorts } from '../../support/effects/backup-ports.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000
const neverAborted = new AbortController().signal
const slot = { id: 'dst-1', kind: 'postgres', version: '17', backupId: 'bak-9' } as const

/** Starts the clock of the test at that time. */
function clock(t: Parameters<typeof openBackupPorts>[0], at: string) {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse(at) })
}

test('times missed for days during downtime are due immediately, and once', async (t) => {
  const { ports } = await openBackupPorts(t)
  clock(t, '2026-01-10T12:00:00.000Z')
  const since = '2026-01-01T00:00:00.000Z'

  const { at, backupId } = await awaitBackupTime(ports, { schedule: '0 3 * * *', since }, neverAborted)

  assert.match(backupId, /^bak-/)
  assert.equal(at, '2026-01-10T12:00:00.000Z')
  assert.equal(nextTime('0 3 * * *', new Date(at))?.toISOString(), '2026-01-11T03:00:00.000Z')
})

test('setting the clock back makes nothing due again', async (t) => {
  const { ports } = await openBackupPorts(t)
  clock(t, '2026-01-10T02:00:00.000Z')
  const ending = new AbortController()
  // The backup of three o'clock was created, and then the clock was set back to two.
  const since = '2026-01-10T03:00:00.000Z'
  const waiting = awaitBackupTime(ports, { schedule: '0 3 * * *', since }, ending.signal)
  let isDue = false
  const noticing = waiting.then(() => {
    isDue = true
  })
  noticing.catch(() => undefined)
  await new Promise((resolve) => setImmediate(resolve))

  ending.abort(new Error('enough'))

  await assert.rejects(waiting, /enough/)
  assert.equal(isDue, false)
})

test('a time due in a moment is awaited, and the next is counted from then', async (t) => {
  const { ports } = await openBackupPorts(t)
  const now = Date.now()
  // The test's clock starts shortly before the next minute.
  const started = performance.now()
  t.mock.method(Date, 'now', () => Math.floor(now / hourMs) * hourMs - 200 + (performance.now() - started))
  const dueAt = new Date(Math.floor(now / hourMs) * hourMs).toISOString()
  const since = new Date(Date.parse(dueAt) - dayMs / 48).toISOString()

  const { at } = await awaitBackupTime(ports, { schedule: '@hourly', since }, neverAborted)

  assert.ok(at >= dueAt, `${at} is before ${dueAt}`)
})

test('a schedule starts a backup under its committed id', async (t) => {
  const { ports, datastore, spawned } = await openBackupPorts(t)
  await datastore()

  await beginBackup(ports, slot)

  const [{ at: _, ...made }, ...more] = spawned as [(typeof spawned)[0]]
  const backupInput = {
    id: 'bak-9',
    datastoreId: 'dst-1',
    datastoreName: 'shop-db',
    kind: 'postgres',
    version: '17',
    place: 'folder',
  }
  assert.deepEqual([made, more], [{ ...backupInput, trigger: 'schedule' }, []])
})

test('no backup starts while the previous scheduled one runs; a manual one is no obstacle', async (t) => {
  const { ports, datastore, backup, spawned, warnings } = await openBackupPorts(t)
  await datastore()
  await backup({ status: 'running', trigger: 'manual' })
  await backup({ status: 'failed' })
  await beginBackup(ports, slot)
  assert.equal(spawned.length, 1)
  await backup({ status: 'running' })

  await beginBackup(ports, { ...slot, backupId: 'bak-10' })

  assert.deepEqual([spawned.length, warnings], [1, ['the previous backup has not ended: none is started']])
})

test('a start repeated after a crash yields the same backup', async (t) => {
  const { ports, datastore, backup, spawned } = await openBackupPorts(t)
  await datastore()
  await backup({ id: slot.backupId, status: 'running' })

  await beginBackup(ports, slot)

  assert.deepEqual(
    spawned.map(({ id }) => id),
    [slot.backupId],
  )
})
