// The effects of a restore that are common to both kinds of datastores.
import type { DatastoreKind } from '../../../machines/datastore/datastore-context.ts'
import type { machine, RestoreSlot } from '../../../machines/restore.ts'
import type { Effects } from '../../../machines/slot.ts'
import { sleep } from '../../async/sleep.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { verifyDump, waitUntilServing } from '../backup/backup.ts'
import { findDatastore } from '../datastore/access.ts'
import { guardDockerDisk } from '../disk/disk.ts'
import { retryUntilCleanedUp, retryWhileEngineUnavailable } from '../waiting.ts'
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
      const switchOver = (step: RestoreStep) => restorerOf(step).switchOver(step)
      // If an attempt is interrupted, the next one detects how far it got.
      await withRetries(ports, input, signal, switchOver, () => !isMissing(ports, input.datastoreId))
    },

    tidyRestore: (input, signal) => finish(ports, input, signal, (step) => restorerOf(step).tidy(step)),
    undoRestore: (input, signal) => finish(ports, input, signal, (step) => restorerOf(step).undo(step)),
  }
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
  input: RestoreSlot,
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
  input: RestoreSlot,
  signal: AbortSignal,
  work: (step: RestoreStep) => Promise<void>,
) {
  const { id, datastoreId, backupId } = input
  const attempt = async () => {
    await ports.tools.remove(id)
    if (isMissing(ports, datastoreId)) return
    await work({ ports, datastore: await waitUntilServing(ports, datastoreId, signal), input, signal })
  }
  await retryUntilCleanedUp(ports, id, signal, attempt, () => true)
  if (backupId === null) await ports.storage.restoreFiles.remove(id)
}

/** A datastore in the trash still exists: it may be restored, and changes to its data wait until then. */
function isMissing({ storage }: RestorePorts, datastoreId: string): boolean {
  const record = storage.actors.record(datastoreId)
  const isDeleted = record?.status === 'deleting' || record?.status === 'deleted'
  return record === null || (isDeleted && !record.trash)
}
