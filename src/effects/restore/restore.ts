// The effects of a restore that are common to both kinds of datastores. The differences are in a file
// per kind.
import type { DatastoreKind } from '../../../machines/datastore/datastore-context.ts'
import type { machine, RestoreSlot } from '../../../machines/restore.ts'
import type { Effects } from '../../../machines/slot.ts'
import { sleep } from '../../async/sleep.ts'
import { codeOf, Failure, messageOf } from '../../errors.ts'
import { verifyFile, waitUntilServing } from '../backup/dump.ts'
import { type Datastore, findDatastore } from '../datastore/access.ts'
import { guardDockerDisk } from '../disk/disk.ts'
import { isoNow } from '../iso-now.ts'
import { retryUntilCleanedUp, retryWhileEngineUnavailable } from '../waiting.ts'
import { checkSql, formatOfFile } from './plain-sql.ts'
import type { RestorePorts } from './ports.ts'
import { postgresRestorer } from './postgres.ts'
import { redisRestorer } from './redis.ts'
import { isMissing, isTransient, type Restorer, retryUntilDone, workOf } from './work.ts'

const restorers: Record<DatastoreKind, Restorer> = { postgres: postgresRestorer, redis: redisRestorer }
const attempts = 5
const pauseMs = 1000

export function restoreEffects(ports: RestorePorts): Effects<typeof machine> {
  const restorerOf = ({ record }: Datastore) => restorers[record.kind]
  return {
    async checkFile(input, signal) {
      const datastore = findDatastore(ports, input.datastoreId)
      const { path } = workOf(ports, input)
      if (datastore.record.kind === 'postgres' && (await formatOfFile(path)) !== 'archive')
        await checkSql(ports, workOf(ports, input), signal)
      else
        await retryWhileEngineUnavailable(ports, signal, () =>
          verifyFile(ports, datastore, { id: input.id, path }, signal),
        )
      return { at: isoNow() }
    },

    async loadData(input, signal) {
      const load = (datastore: Datastore) =>
        guardDockerDisk(ports, 'a restore', signal, (bound) =>
          restorerOf(datastore).load(ports, datastore, workOf(ports, input), bound),
        )
      await withRetries(ports, input, signal, load, isTransient)
      return { at: isoNow() }
    },

    async switchData(input, signal) {
      const switchOver = (datastore: Datastore) =>
        restorerOf(datastore).switchOver(ports, datastore, workOf(ports, input), signal)
      // If an attempt is interrupted, the next one detects how far it got.
      await withRetries(ports, input, signal, switchOver, () => !isMissing(ports, input.datastoreId))
      return { at: isoNow() }
    },

    tidyRestore: finalStep(ports, (datastore, input, signal) =>
      restorerOf(datastore).tidy(ports, datastore, input, signal),
    ),
    undoRestore: finalStep(ports, (datastore, input, signal) =>
      restorerOf(datastore).undo(ports, datastore, input, signal),
    ),
  }
}

/** Retries, because the datastore or the engine may be unavailable only for a moment. */
async function withRetries(
  ports: RestorePorts,
  input: RestoreSlot,
  signal: AbortSignal,
  work: (datastore: Datastore) => Promise<void>,
  mayRepeat: (error: unknown) => boolean,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await retryWhileEngineUnavailable(ports, signal, async () =>
        work(await waitUntilServing(ports, input.datastoreId, signal)),
      )
    } catch (error) {
      signal.throwIfAborted()
      if (attempt === attempts || !mayRepeat(error)) throw asRestoreFailure(error)
      await sleep(pauseMs, signal)
    } finally {
      ports.progress.clear(input.id)
    }
  }
}

function asRestoreFailure(error: unknown): unknown {
  return codeOf(error) === 'docker_error' ? new Failure('restore_failed', messageOf(error)) : error
}

/** A final step, retried until it succeeds or the datastore is deleted. */
function finalStep(
  ports: RestorePorts,
  work: (datastore: Datastore, input: RestoreSlot, signal: AbortSignal) => Promise<void>,
) {
  return async (input: RestoreSlot, signal: AbortSignal) => {
    await retryUntilCleanedUp(ports, input.id, signal, () => ports.tools.remove(input.id))
    await retryUntilDone(ports, input, signal, (datastore) => work(datastore, input, signal))
    if (input.backupId === null) await ports.storage.restoreFiles.remove(input.id)
    return { at: isoNow() }
  }
}
