// Inputs, effects and a runner for tests of the datastore chart. All effects succeed by default.
import type { TestContext } from 'node:test'
import type { Snapshot } from 'xstate'
import { machine } from '../../../machines/datastore/datastore.ts'
import type { DatastoreInput } from '../../../machines/datastore/datastore-context.ts'
import { type DatastoreSnapshot, toRecord } from '../../../machines/datastore/datastore-record.ts'
import { instant } from './deploy-chart.ts'
import { type Run, runMachine, type TestEffect, waits } from './machine-run.ts'

export const input: DatastoreInput = {
  id: 'dst-1',
  name: 'shop-db',
  kind: 'postgres',
  version: '17',
  database: 'shop_db',
  username: 'shop_db',
  backups: { schedule: null, keep: 7 },
  memoryMb: 256,
  cpus: null,
  at: instant,
}
export const succeeds: TestEffect = async () => ({ at: instant })
export const starts: TestEffect = async () => ({ at: instant, hostPort: 25_001, notice: null })
export const fails: TestEffect = () =>
  Promise.reject({ code: 'datastore_failed', message: 'no space left', at: instant })
export const losing =
  (servedMs: number): TestEffect =>
  async () => ({ at: instant, code: 'datastore_failed', message: 'its container no longer exists', servedMs })

export const working: Record<string, TestEffect> = {
  obtainImage: succeeds,
  startDatastore: starts,
  stopDatastore: succeeds,
  awaitAnswer: succeeds,
  keepDatastore: waits,
  applyLimits: async () => ({ at: instant, notice: null }),
  saveDatastore: async () => ({ at: instant, isGood: true }),
  trashDatastore: async () => ({ at: instant, hasVolume: true, sizeBytes: 4096 }),
  awaitExpiry: waits,
  reclaimDatastore: succeeds,
  removeDatastore: succeeds,
  awaitRetry: waits,
  awaitBackupTime: waits,
  beginBackup: succeeds,
  checkUpgrade: succeeds,
  copyData: succeeds,
  undoUpgrade: succeeds,
  switchVolume: succeeds,
}
export const path = (life: string, limits = 'settled', backups = 'off') =>
  `wanted.life.${life} limits.${limits} backups.${backups}`
export const recordOf = ({ actor }: Run) => toRecord(actor.getSnapshot() as DatastoreSnapshot)
export const start = (t: TestContext, effects: Record<string, TestEffect> = {}) =>
  stopped(t, runMachine(machine, { ...working, ...effects }, { input }))
export const resume = (t: TestContext, snapshot: unknown, effects: Record<string, TestEffect> = {}) =>
  stopped(t, runMachine(machine, { ...working, ...effects }, { snapshot: snapshot as Snapshot<unknown> }))
function stopped(t: TestContext, run: Run): Run {
  t.after(() => run.actor.stop())
  return run
}
export const turn = () => new Promise((resolve) => setImmediate(resolve))
