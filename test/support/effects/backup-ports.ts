// The ports of backup effects over a real store; events and spawned actors are recorded.
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { BackupInput } from '../../../machines/backup.ts'
import { initialContext } from '../../../machines/datastore/datastore-context.ts'
import { toRecord } from '../../../machines/datastore/datastore-record.ts'
import type { BackupPorts } from '../../../src/effects/backup/ports.ts'
import type { ActorPort } from '../../../src/effects/ports.ts'
import type { Logger } from '../../../src/logger.ts'
import { input } from '../machines/datastore-chart.ts'
import { transitionOf } from '../storage/store-fixtures.ts'
import { silentLogger, temporaryStorage } from '../supervisor/supervision.ts'
import { testMac } from '../system/test-mac.ts'
import { standIn } from './stand-in.ts'

type Backup = { status?: string; trigger?: string; id?: string; ageDays?: number }

export async function openBackupPorts(t: TestContext) {
  const storage = await temporaryStorage(t)
  const dataDir = storage.directory
  const spawned: BackupInput[] = []
  const sent: { id: string; type: string; by: unknown }[] = []
  const warnings: string[] = []
  const actors: ActorPort = {
    async send(id, { type, by }) {
      sent.push({ id, type, by })
      return { applied: true }
    },
    spawn: async (_kind, _id, made) => void spawned.push(made as BackupInput),
  }
  const settings = { dataDir, backupDir: join(dataDir, 'backups'), minFreeDiskMb: 1 }
  const logger = { ...silentLogger, warn: (_: object, text: string) => void warnings.push(text) } as Logger
  const owner = { prefix: 'berth-test', serverId: 'test', mac: testMac }
  const ports = standIn<BackupPorts>({
    storage,
    owner,
    actors,
    settings,
    logger,
    progress: new Map(),
  })
  return {
    ports,
    settings: ports.settings,
    spawned,
    sent,
    warnings,
    /** Stores the datastore shop-db, which retains that many backups. */
    async datastore(keep = 7, keepDays: number | null = null): Promise<string> {
      await storage.commit(() => storage.datastores.insert(input.id, input.name, 's3cret'))
      const context = initialContext({ ...input, backups: { schedule: '@daily', keep, keepDays } })
      const record = toRecord({ context, matches: () => false } as never)
      const actor = { id: input.id, kind: 'datastore', service_id: null }
      await storage.actors.create({ ...transitionOf(actor), record })
      return input.id
    },
    /** Stores a backup that is newer than all earlier ones. */
    async backup({ status = 'good', trigger = 'schedule', ageDays = 0, ...given }: Backup = {}) {
      const id = given.id ?? storage.ids.newId('bak')
      const created_at = new Date(Date.now() - ageDays * 24 * 60 * 60_000).toISOString()
      const row = { id, kind: 'backup', service_id: input.id }
      const record = { id, status, trigger, created_at, datastore_id: input.id, service_id: input.id }
      await storage.actors.create({ ...transitionOf(row), record })
      return id
    },
  }
}
