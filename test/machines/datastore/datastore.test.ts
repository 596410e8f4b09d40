// The chart of a datastore: created, supervised, restarted, removed only on request; limits change
// in any state.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { migrate } from '../../../machines/datastore/datastore.ts'
import {
  fails,
  losing,
  path,
  recordOf,
  resume,
  start,
  starts,
  succeeds,
  turn,
  working,
} from '../../support/machines/datastore-chart.ts'
import { instant } from '../../support/machines/deploy-chart.ts'
import {
  forever,
  once,
  pathOf,
  type Run,
  type TestEffect,
  waits,
} from '../../support/machines/machine-run.ts'

test('a datastore is pulled, started, probed, and then kept', async (t) => {
  const run = start(t)
  await run.reached(path('available'))
  assert.deepEqual(
    run.states,
    ['starting.pulling', 'starting.starting', 'starting.probing', 'available'].map((life) => path(life)),
  )
  assert.deepEqual(recordOf(run), {
    id: 'dst-1',
    name: 'shop-db',
    kind: 'postgres',
    version: '17',
    status: 'available',
    phase: null,
    error: null,
    error_code: null,
    error_details: null,
    notice: null,
    database: 'shop_db',
    username: 'shop_db',
    host_port: 25_001,
    memory_limit_mb: 256,
    cpu_limit: null,
    limits: { revision: 1, settled: 1, trouble: null },
    backup_schedule: null,
    backup_keep: 7,
    backup_keep_days: null,
    backup_place: null,
    backups_since: instant,
    trash: null,
    upgrade: null,
    former: null,
    deleting: false,
    failures: 0,
    next_attempt_at: null,
    created_at: instant,
    updated_at: instant,
  })
})

for (const slot of ['obtainImage', 'startDatastore', 'awaitAnswer']) {
  test(`a datastore whose ${slot} fails has the reason, and stays failed during retries`, async (t) => {
    const run = start(t, { [slot]: once(fails, waits), awaitRetry: once(succeeds, waits) })
    await run.reached(path('failed'))
    while (run.started.filter((name) => name === slot).length < 2) await turn()
    const { status, error, phase } = recordOf(run)
    const phases = { obtainImage: 'pulling', startDatastore: 'starting', awaitAnswer: 'probing' }
    assert.deepEqual([status, error, phase], ['failed', 'no space left', phases[slot as keyof typeof phases]])
  })
}

test('the first failure is retried immediately, later ones after increasing pauses', async (t) => {
  const pauses: number[] = []
  const awaitRetry: TestEffect = async (effectInput, signal) => {
    pauses.push(((effectInput.wakeAt as number) - Date.parse(instant)) / 1000)
    return pauses.length < 11 ? { at: instant } : forever(signal)
  }
  start(t, { startDatastore: fails, awaitRetry })
  while (pauses.length < 11) await turn()
  assert.deepEqual(pauses, [0, 1, 3, 7, 15, 31, 63, 127, 255, 300, 300])
})

test('only a datastore that was never available is recreated after a failure', async (t) => {
  const requests: unknown[] = []
  const startDatastore: TestEffect = async ({ isAfresh }) => {
    requests.push(isAfresh)
    return requests.length === 1
      ? fails({}, new AbortController().signal)
      : starts({}, new AbortController().signal)
  }
  start(t, {
    startDatastore,
    awaitRetry: succeeds,
    keepDatastore: once(losing(10), once(losing(90_000), waits)),
  })
  while (requests.length < 4) await turn()
  assert.deepEqual(requests, [false, true, false, false])
})

test('a restart also recreates a datastore that was never available', async (t) => {
  const requests: unknown[] = []
  const startDatastore: TestEffect = async ({ isAfresh }, signal) => {
    requests.push(isAfresh)
    return requests.length === 1 ? starts({}, signal) : forever(signal)
  }
  const run = start(t, { startDatastore, awaitAnswer: fails })
  await run.reached(path('failed'))
  run.actor.send({ type: 'restart', at: instant, by: 'the API' })
  while (requests.length < 2) await turn()
  assert.deepEqual(requests, [false, true])
})

test('a datastore lost after a long time is restarted immediately, without counting a failure', async (t) => {
  const run = start(t, { keepDatastore: once(losing(60_000), waits) })
  while (run.started.filter((name) => name === 'keepDatastore').length < 2) await turn()
  assert.ok(!run.started.includes('awaitRetry'))
  assert.deepEqual([recordOf(run).status, recordOf(run).failures], ['available', 0])
})

test('while it is recovered its status is restarting, not created', async (t) => {
  const run = start(t, { keepDatastore: losing(60_000), awaitAnswer: once(succeeds, waits) })
  while (run.started.filter((name) => name === 'awaitAnswer').length < 2) await turn()
  assert.deepEqual([recordOf(run).status, recordOf(run).phase], ['restarting', 'probing'])
})

test('a datastore that dies repeatedly is retried later each time, with the reason', async (t) => {
  const run = start(t, { keepDatastore: losing(10), awaitRetry: once(succeeds, once(succeeds, waits)) })
  while (run.started.filter((name) => name === 'awaitRetry').length < 3) await turn()
  const { status, error, failures } = recordOf(run)
  assert.deepEqual([status, error, failures], ['failed', 'its container no longer exists', 3])
})

for (const [where, effects] of Object.entries({
  'starting.pulling': { obtainImage: waits },
  'starting.probing': { awaitAnswer: waits },
  available: {},
  failed: { startDatastore: fails },
})) {
  test(`while ${where} a datastore can be restarted, which clears earlier failures`, async (t) => {
    const run = start(t, { ...effects, stopDatastore: waits })
    await run.reached(path(where))
    run.actor.send({ type: 'restart', at: instant, by: 'the API' })
    const { status, phase, error, failures } = recordOf(run)
    const expected = where === 'available' ? 'restarting' : 'creating'
    assert.deepEqual([status, phase, error, failures], [expected, 'stopping', null, 0])
  })

  test(`while ${where} a datastore accepts new limits and continues`, async (t) => {
    const applied: unknown[] = []
    const applyLimits: TestEffect = async ({ memoryMb, cpus }) => {
      applied.push([memoryMb, cpus])
      return { at: instant, notice: 'held to 2' }
    }
    const run = start(t, { ...effects, applyLimits })
    await run.reached(path(where))
    run.actor.send({ type: 'limits.set', at: instant, by: 'the API', cpus: 4 })
    run.actor.send({ type: 'limits.set', at: instant, by: 'the API', memoryMb: null })
    while (recordOf(run).limits.settled < 3) await turn()
    const { memory_limit_mb, cpu_limit, notice, limits } = recordOf(run)
    assert.deepEqual([memory_limit_mb, cpu_limit, notice], [null, 4, 'held to 2'])
    assert.deepEqual(limits, { revision: 3, settled: 3, trouble: null })
    assert.deepEqual(applied.at(-1), [null, 4])
    assert.equal(run.states.at(-1), path(where))
  })

  test(`while ${where} a datastore can be deleted`, async (t) => {
    const run = start(t, effects)
    await run.reached(path(where))
    run.actor.send({ type: 'delete', at: instant, by: 'the API' })
    assert.equal(recordOf(run).status, 'deleting')
    await run.reached('deleted')
    assert.deepEqual([recordOf(run).status, run.started.at(-1)], ['deleted', 'removeDatastore'])
  })
}

test('refused limits stay as configured, with the reason', async (t) => {
  const run = start(t, { applyLimits: once(fails, working.applyLimits!) })
  await run.reached(path('available'))
  run.actor.send({ type: 'limits.set', at: instant, by: 'the API', memoryMb: 16 })
  while (recordOf(run).limits.settled < 2) await turn()
  const trouble = { code: 'datastore_failed', message: 'no space left' }
  assert.deepEqual(recordOf(run).limits, { revision: 2, settled: 2, trouble })
  assert.equal(recordOf(run).memory_limit_mb, 16)
  run.actor.send({ type: 'limits.set', at: instant, by: 'the API' })
  while (recordOf(run).limits.settled < 3) await turn()
  assert.deepEqual(recordOf(run).limits, { revision: 3, settled: 3, trouble: null })
})

test('a datastore that is being deleted accepts neither limits nor a restart', async (t) => {
  const run = start(t, { removeDatastore: waits })
  await run.reached(path('available'))
  run.actor.send({ type: 'delete', at: instant, by: 'the API' })
  const before = run.actor.getSnapshot()
  run.actor.send({ type: 'restart', at: instant, by: 'the API' })
  run.actor.send({ type: 'limits.set', at: instant, by: 'the API', memoryMb: 16 })
  assert.equal(run.actor.getSnapshot(), before)
})

// Scheduled backups: started when due, once each, also after a restart.

const due: TestEffect = async () => ({ at: '2026-01-01T03:00:00.000Z', backupId: 'bak-1' })
const backupPlan = { type: 'backups.set', at: instant, by: 'Ada' }

test('a schedule waits for its time, starts that backup, and waits for the next', async (t) => {
  const requests: unknown[] = []
  const run = start(t, {
    awaitBackupTime: once(due, waits),
    beginBackup: async ({ backupId }) => {
      requests.push(backupId)
      return { at: instant }
    },
  })
  await run.reached(path('available'))
  run.actor.send({ ...backupPlan, schedule: '0 3 * * *' })
  while (run.started.filter((name) => name === 'awaitBackupTime').length < 2) await turn()

  assert.deepEqual(requests, ['bak-1'])
  const { backup_schedule, backup_keep, backups_since } = recordOf(run)
  assert.deepEqual(
    [backup_schedule, backup_keep, backups_since],
    ['0 3 * * *', 7, '2026-01-01T03:00:00.000Z'],
  )
})

test('an actor restarted while it starts a backup starts the same backup', async (t) => {
  const first = start(t, { awaitBackupTime: due, beginBackup: waits })
  first.actor.send({ ...backupPlan, schedule: '@daily' })
  while (!first.started.includes('beginBackup')) await turn()
  first.actor.stop()
  const requests: unknown[] = []
  const beginBackup: TestEffect = async ({ backupId }) => {
    requests.push(backupId)
    return { at: instant }
  }
  resume(t, first.snapshots.at(-1), { awaitBackupTime: waits, beginBackup })
  while (requests.length === 0) await turn()
  assert.deepEqual(requests, ['bak-1'])
})

test('a new schedule counts from now, and an empty one stops the backups', async (t) => {
  const waited: unknown[] = []
  const awaitBackupTime: TestEffect = ({ schedule, since }, signal) => {
    waited.push([schedule, since])
    return forever(signal)
  }
  const run = start(t, { awaitBackupTime })
  run.actor.send({ ...backupPlan, schedule: '@daily' })
  run.actor.send({ ...backupPlan, at: '2026-02-01T00:00:00.000Z', keep: 3 })
  run.actor.send({ ...backupPlan, at: '2026-03-01T00:00:00.000Z', schedule: '@weekly' })
  await turn()
  assert.deepEqual(waited.at(0), ['@daily', instant])
  assert.deepEqual(waited.at(1), ['@daily', instant])
  assert.deepEqual(waited.at(-1), ['@weekly', '2026-03-01T00:00:00.000Z'])
  run.actor.send({ ...backupPlan, schedule: null })
  await turn()
  const { backup_schedule, backup_keep } = recordOf(run)
  assert.deepEqual([backup_schedule, backup_keep], [null, 3])
  assert.match(pathOf(run.actor.getSnapshot().value), /backups\.off$/)
})

// The trash: a final backup, a wait, and either the restore or the removal.

const expiresAt = '2026-01-08T00:00:00.000Z'
const deletion = { type: 'delete', at: instant, by: 'Ada', keep: { expiresAt, backupId: 'bak-1' } }
const discard = { ...deletion, keep: null }
const reclaim = { type: 'reclaim', at: instant, by: 'Ada', name: 'former' }

async function deleted(t: TestContext, effects: Record<string, TestEffect> = {}, from = 'available') {
  const run = start(t, effects)
  await run.reached(path(from))
  run.actor.send(deletion)
  return run
}

test('an available datastore is backed up, stopped, and kept until its time is over', async (t) => {
  const wakes: unknown[] = []
  const awaitExpiry: TestEffect = async ({ wakeAt }) => {
    wakes.push(wakeAt)
    return { at: instant }
  }
  const run = await deleted(t, { awaitExpiry })
  await run.reached('deleted')
  assert.deepEqual(run.states.slice(-5), ['saving', 'trashing', 'trashed', 'deleting', 'deleted'])
  assert.deepEqual(wakes, [Date.parse(expiresAt)])
})

test('in the trash its record shows the expiry, the size, and the backup', async (t) => {
  const saving = await deleted(t, { saveDatastore: waits })
  assert.deepEqual([recordOf(saving).status, recordOf(saving).phase], ['deleting', 'saving'])
  const run = await deleted(t)
  await run.reached('trashed')
  const { status, phase, trash } = recordOf(run)
  assert.deepEqual([status, phase], ['trashed', null])
  assert.deepEqual(trash, {
    deleted_at: instant,
    expires_at: expiresAt,
    backup_id: 'bak-1',
    size_bytes: 4096,
    trouble: null,
  })
})

test('a failed final backup does not prevent the deletion, and is not shown', async (t) => {
  const run = await deleted(t, { saveDatastore: async () => ({ at: instant, isGood: false }) })
  await run.reached('trashed')
  assert.equal(recordOf(run).trash?.backup_id, null)
})

for (const [where, effects] of Object.entries({
  failed: { awaitAnswer: once(working.awaitAnswer!, fails), keepDatastore: waits },
  'starting.stopping': { stopDatastore: waits },
})) {
  test(`a datastore that was available and is ${where} goes to the trash without a backup`, async (t) => {
    const run = start(t, effects)
    await run.reached(path('available'))
    run.actor.send({ type: 'restart', at: instant, by: 'Ada' })
    await run.reached(path(where))
    run.actor.send(deletion)
    await run.reached('trashed')
    assert.ok(!run.started.includes('saveDatastore'))
    assert.equal(recordOf(run).trash?.backup_id, null)
  })
}

test('a datastore that was never available has no data, and is removed immediately', async (t) => {
  const run = await deleted(t, { startDatastore: fails }, 'failed')
  await run.reached('deleted')
  assert.ok(!run.states.includes('trashing'))
})

test('a datastore without a volume is removed immediately', async (t) => {
  const run = await deleted(t, {
    trashDatastore: async () => ({ at: instant, hasVolume: false, sizeBytes: null }),
  })
  await run.reached('deleted')
  assert.ok(!run.states.includes('trashed'))
})

for (const [where, slot] of Object.entries({
  saving: 'saveDatastore',
  trashing: 'trashDatastore',
  trashed: '',
})) {
  test(`while ${where} a second deletion changes nothing, unless it discards the data`, async (t) => {
    const requests: unknown[] = []
    const removeDatastore: TestEffect = async (input) => {
      requests.push(input)
      return { at: instant }
    }
    const run = await deleted(t, { ...(slot ? { [slot]: waits } : {}), removeDatastore })
    await run.reached(where)
    const before = run.actor.getSnapshot()
    run.actor.send(deletion)
    assert.equal(run.actor.getSnapshot(), before)
    run.actor.send(discard)
    assert.equal(recordOf(run).trash, null)
    await run.reached('deleted')
    assert.deepEqual(requests, [{ id: 'dst-1', backupId: 'bak-1' }])
  })
}

test('after a restore the datastore starts on its volume, without its earlier failures', async (t) => {
  const starts: unknown[] = []
  const startDatastore: TestEffect = async ({ isNew, isAfresh }) => {
    starts.push([isNew, isAfresh])
    return { at: instant, hostPort: 25_001, notice: null }
  }
  const run = await deleted(t, { startDatastore })
  await run.reached('trashed')
  run.states.length = 0
  run.actor.send(reclaim)
  assert.deepEqual([recordOf(run).status, recordOf(run).trash === null], ['restarting', false])
  await run.reached(path('available'))
  const { name, status, error, trash } = recordOf(run)
  assert.deepEqual([name, status, error, trash], ['former', 'available', null, null])
  assert.deepEqual(starts, [
    [true, false],
    [false, false],
  ])
})

test('a datastore whose name is in use stays in the trash, with the reason', async (t) => {
  const run = await deleted(t, { reclaimDatastore: once(fails, working.reclaimDatastore!) })
  await run.reached('trashed')
  run.actor.send(reclaim)
  while (recordOf(run).trash?.trouble === null) await turn()
  assert.equal(recordOf(run).status, 'trashed')
  assert.deepEqual(recordOf(run).trash?.trouble, { code: 'datastore_failed', message: 'no space left' })
  assert.equal(recordOf(run).name, 'shop-db')
  run.actor.send({ ...reclaim, name: 'other' })
  while (recordOf(run).status !== 'available') await turn()
  assert.equal(recordOf(run).name, 'other')
})

test('from every snapshot of its way into the trash and back a fresh actor continues', async (t) => {
  const whole = await deleted(t)
  await whole.reached('trashed')
  const way = whole.snapshots.filter((snapshot) => /saving|trash/.test(JSON.stringify(snapshot)))
  assert.ok(way.length >= 3)
  for (const snapshot of whole.snapshots.slice(-3)) {
    const again = resume(t, snapshot)
    await again.reached('trashed')
    again.actor.send(reclaim)
    while (recordOf(again).status !== 'available') await turn()
    for (const back of again.snapshots.filter((one) => JSON.stringify(one).includes('reclaiming'))) {
      const last = resume(t, back)
      while (recordOf(last).status !== 'available') await turn()
      assert.equal(recordOf(last).name, 'former')
    }
  }
})

test('a snapshot from before the trash is a datastore that is not deleted', async (t) => {
  const run = start(t)
  await run.reached(path('available'))
  const { trash, ...context } = (run.snapshots.at(-1) as unknown as { context: Record<string, unknown> })
    .context
  const old = { ...run.snapshots.at(-1)!, context }
  const again = resume(t, migrate(old, 1))
  assert.deepEqual([trash, recordOf(again).trash], [null, null])
  again.actor.send(deletion)
  await again.reached('trashed')
})

// An upgrade: whatever happens before the switch reopens the version that it had.

const plan = {
  id: 'upg-1',
  from: { version: '17', volume: 'shop-db' },
  to: { version: '18', volume: 'upg-1' },
  removal: { id: 'dsk-1', expiresAt: '2026-01-08T00:00:00.000Z' },
  keptBy: null as string | null,
}
const upgrade = { type: 'upgrade', at: instant, by: 'Ada', plan }
const back = { ...upgrade, plan: { ...plan, keptBy: 'dsk-0' } }
const cancel = { type: 'upgrade.cancel', at: instant, by: 'Ada' }

async function upgraded(t: TestContext, effects: Record<string, TestEffect>): Promise<Run> {
  const run = start(t, effects)
  await run.reached(path('available'))
  run.actor.send(upgrade)
  return run
}

/** The upgrade is over, and its datastore serves or has failed. */
async function settledUpgrade(run: Run): Promise<void> {
  const isSettled = () =>
    recordOf(run).upgrade?.finished_at && ['available', 'failed'].includes(recordOf(run).status)
  while (!isSettled()) await turn()
}

const outcome = (run: Run) => {
  const { status, version, upgrade: newest, former } = recordOf(run)
  return [status, version, newest?.error ?? null, newest?.finished_at !== null, former?.version ?? null]
}

test('after the copy and the switch it starts as the new version', async (t) => {
  const versions: unknown[] = []
  const startDatastore: TestEffect = async (input) => {
    versions.push((input as { version?: string }).version)
    return { at: instant, hostPort: 25_001, notice: null }
  }
  const run = await upgraded(t, { startDatastore })
  await settledUpgrade(run)
  assert.deepEqual(outcome(run), ['available', '18', null, true, '17'])
  assert.deepEqual(versions, ['17', '18'])
})

test('its status and phase show the step', async (t) => {
  for (const [slot, phase] of [
    ['checkUpgrade', 'checking'],
    ['copyData', 'copying'],
    ['switchVolume', 'switching'],
  ] as const) {
    const run = await upgraded(t, { [slot]: waits })
    await run.reached(path(`upgrading.${phase}`))
    assert.deepEqual([recordOf(run).status, recordOf(run).phase], ['upgrading', phase])
  }
})

test('a failed check leaves the server alone, and a failed or canceled copy is undone', async (t) => {
  for (const [effects, isUndone] of [
    [{ checkUpgrade: fails }, false],
    [{ copyData: fails }, true],
    [{ switchVolume: fails }, false],
  ] as const) {
    const run = await upgraded(t, effects)
    await settledUpgrade(run)
    assert.deepEqual(outcome(run), ['available', '17', 'no space left', true, null])
    assert.equal(run.states.includes(path('upgrading.undoing')), isUndone)
  }
  const run = await upgraded(t, { copyData: waits })
  await run.reached(path('upgrading.copying'))
  run.actor.send(cancel)
  await settledUpgrade(run)
  assert.deepEqual(outcome(run), ['available', '17', 'canceled by Ada', true, null])
})

test('it is not deleted during an upgrade, and is afterwards', async (t) => {
  const deletion = { type: 'delete', at: instant, by: 'Ada', keep: null }
  const run = await upgraded(t, { copyData: waits })
  await run.reached(path('upgrading.copying'))
  run.actor.send(deletion)
  assert.equal(recordOf(run).status, 'upgrading')
  run.actor.send(cancel)
  await settledUpgrade(run)
  run.actor.send(deletion)
  await run.reached('deleted')
})

test('a return is a switch without a copy, also for a server that fails', async (t) => {
  for (const from of ['available', 'failed']) {
    const run = start(t, from === 'failed' ? { awaitAnswer: fails } : {})
    await run.reached(path(from))
    run.actor.send(back)
    await settledUpgrade(run)
    assert.ok(!run.states.includes(path('upgrading.copying')))
    assert.equal(recordOf(run).version, '18')
  }
  const run = start(t, { awaitAnswer: fails })
  await run.reached(path('failed'))
  run.actor.send(upgrade)
  assert.equal(recordOf(run).upgrade, null)
})

test('the snapshot of a datastore without upgrades is migrated', async (t) => {
  const run = start(t)
  await run.reached(path('available'))
  const snapshot = run.actor.getPersistedSnapshot() as unknown as { context: Record<string, unknown> }
  const { upgrade: _, former: __, ...context } = snapshot.context
  const migrated = migrate({ ...snapshot, context }, 2)
  const later = resume(t, migrated)
  later.actor.send(upgrade)
  await settledUpgrade(later)
  assert.equal(recordOf(later).version, '18')
})

test('from every snapshot a fresh actor becomes available', async (t) => {
  const whole = start(t)
  await whole.reached(path('available'))
  for (const snapshot of whole.snapshots) {
    const again = resume(t, snapshot)
    while (recordOf(again).status !== 'available') await turn()
  }
})
