// The effects of a restore, with what is common to both kinds of datastores.
import type { DatastoreKind } from '../../../machines/datastore/datastore-context.ts'
import type {
  DatastoreRestoreSlot,
  DiskRestoreSlot,
  machine,
  RestoreSlot,
} from '../../../machines/restore.ts'
import type { Effects } from '../../../machines/slot.ts'
import { sleep } from '../../async/sleep.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { verifyDump, waitUntilServing } from '../backup/backup.ts'
import { findDatastore } from '../datastore/access.ts'
import { guardDockerDisk } from '../disk/disk.ts'
import { retryUntilCleanedUp, retryWhileEngineUnavailable } from '../waiting.ts'
import { diskRestorer } from './disk.ts'
import { formatOfFile, readSql } from './plain-sql.ts'
import { postgresRestorer } from './postgres.ts'
import { redisRestorer } from './redis.ts'
import { openRestoreFile, type RestorePorts, type Restorer, type RestoreStep } from './step.ts'

const restorers: Record<DatastoreKind, Restorer> = { postgres: postgresRestorer, redis: redisRestorer }
const attempts = 5
const pauseMs = 1000

export function restoreEffects(ports: RestorePorts): Effects<typeof machine> {
  const restorerOf = ({ datastore }: RestoreStep) => restorers[datastore.record.kind]
  return {
    async checkFile(input, signal) {
      if (isOfDisk(input))
        return retryWhileEngineUnavailable(ports, signal, () => diskRestorer.check(ports, input, signal))
      const datastore = findDatastore(ports, input.datastoreId)
      const step = { ports, datastore, input, signal }
      const isSql = datastore.record.kind === 'postgres' && (await formatOfFile(step)) !== 'archive'
      if (isSql) await checkSql(step)
      else
        await retryWhileEngineUnavailable(ports, signal, async () => {
          const stored = await openRestoreFile(ports, input, signal)
          return verifyDump(ports, datastore, { id: input.id, stored }, signal)
        })
    },

    async loadData(input, signal) {
      if (isOfDisk(input))
        return retryWhileEngineUnavailable(ports, signal, () => diskRestorer.load(ports, input, signal))
      const load = (step: RestoreStep) =>
        guardDockerDisk(ports, 'a restore', signal, (bound) =>
          restorerOf(step).load({ ...step, signal: bound }),
        )
      // The datastore may be unavailable only for a moment.
      await withRetries(ports, input, signal, load, (error) =>
        ['docker_error', 'docker_unavailable'].includes(codeOf(error)),
      )
    },

    async switchData(input, signal) {
      if (isOfDisk(input)) return persist(ports, input, signal, diskRestorer.switchOver)
      const switchOver = (step: RestoreStep) => restorerOf(step).switchOver(step)
      // If an attempt is interrupted, the next one detects how far it got.
      await withRetries(ports, input, signal, switchOver, () => !isMissing(ports, input.datastoreId))
    },

    async tidyRestore(input, signal) {
      if (isOfDisk(input)) await persist(ports, input, signal, diskRestorer.tidy)
      else await finish(ports, input, signal, (step) => restorerOf(step).tidy(step))
      await removeUpload(ports, input)
    },

    async undoRestore(input, signal) {
      if (isOfDisk(input)) await persist(ports, input, signal, diskRestorer.undo)
      else await finish(ports, input, signal, (step) => restorerOf(step).undo(step))
      await removeUpload(ports, input)
    },
  }
}

const isOfDisk = (input: RestoreSlot): input is DiskRestoreSlot => 'disk' in input

/** The disk of a service cannot stay between two volumes: the step is repeated until it succeeds. */
function persist(
  ports: RestorePorts,
  input: DiskRestoreSlot,
  signal: AbortSignal,
  step: (ports: RestorePorts, input: DiskRestoreSlot, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const work = () => step(ports, input, signal)
  return retryUntilCleanedUp(ports, input.id, signal, work, () => true)
}

async function removeUpload({ storage }: RestorePorts, { id, backupId }: RestoreSlot): Promise<void> {
  if (backupId === null) await storage.restoreFiles.remove(id)
}

/** Reads the whole file. Throws `unsupported_dump` if it is truncated. */
async function checkSql(step: RestoreStep): Promise<void> {
  try {
    for await (const _ of readSql(step));
  } finally {
    step.ports.progress.delete(step.input.id)
  }
}

async function withRetries(
  ports: RestorePorts,
  input: DatastoreRestoreSlot,
  signal: AbortSignal,
  work: (step: RestoreStep) => Promise<void>,
  mayRepeat: (error: unknown) => boolean,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await retryWhileEngineUnavailable(ports, signal, async () =>
        work({ ports, datastore: await waitUntilServing(ports, input.datastoreId, signal), input, signal }),
      )
    } catch (error) {
      signal.throwIfAborted()
      if (attempt === attempts || !mayRepeat(error)) throw asRestoreFailure(error)
      await sleep(pauseMs, signal)
    } finally {
      ports.progress.delete(input.id)
    }
  }
}

function asRestoreFailure(error: unknown): unknown {
  return codeOf(error) === 'docker_error' ? new Failure('restore_failed', messageOf(error)) : error
}

/** A final step, retried until it succeeds or the datastore is deleted. */
async function finish(
  ports: RestorePorts,
  input: DatastoreRestoreSlot,
  signal: AbortSignal,
  work: (step: RestoreStep) => Promise<void>,
) {
  const { id, datastoreId } = input
  const attempt = async () => {
    await ports.tools.remove(id)
    if (isMissing(ports, datastoreId)) return
    await work({ ports, datastore: await waitUntilServing(ports, datastoreId, signal), input, signal })
  }
  await retryUntilCleanedUp(ports, id, signal, attempt, () => true)
}

/** A datastore in the trash still exists: it may be restored, and changes to its data wait until then. */
function isMissing({ storage }: RestorePorts, datastoreId: string): boolean {
  const record = storage.actors.record(datastoreId)
  const isDeleted = record?.status === 'deleting' || record?.status === 'deleted'
  return record === null || (isDeleted && !record.trash)
}
