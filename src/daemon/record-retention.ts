// Deletes old records every hour: request ids, sessions, tokens, logins and old deploys.
import { eventLifetimeMs } from '../../storage/events.ts'
import type { Storage } from '../../storage/index.ts'
import { removeExpiredCredentials } from '../account/ports.ts'
import type { Owner } from '../docker/engine/names.ts'
import { forgetOldDeploys } from '../effects/deploy/end/forgetting.ts'
import type { Logger } from '../logger.ts'

const hourMs = 60 * 60 * 1000
/** How long the outcome of a restore can be queried. */
const restoreLifetimeMs = 30 * 24 * hourMs

export function startRecordRetention(
  storage: Storage,
  owner: Owner,
  logger: Logger,
): { stop(): Promise<void> } {
  const startedAt = Date.now()
  const removeOldRecords = async () => {
    const expired = Date.now() - eventLifetimeMs
    await storage.events.forgetBefore(new Date(expired).toISOString())
    // Logins from before a restart can no longer be answered.
    await storage.actors.removeFinal('terminal-login', Math.max(startedAt, expired))
    // Certificates of the server's own hosts: those of a service are deleted with it.
    await storage.actors.removeFinal('certificate', expired)
    await storage.actors.removeFinal('datastore', expired)
    await storage.actors.removeFinal('backup', expired, null)
    await storage.actors.removeFinal('disk-removal', expired, null)
    await storage.actors.removeFinal('git-connection', expired)
    await storage.gitAuthorizations.forgetExpired(Date.now())
    await storage.actors.removeFinal('restore', Date.now() - restoreLifetimeMs, null)
    await forgetOldDeploys(storage, owner)
    await removeExpiredCredentials(storage)
  }
  let round: Promise<void> = Promise.resolve()
  const removeOrLog = () => {
    round = removeOldRecords().catch((error: unknown) =>
      logger.warn({ err: error }, 'old records could not be deleted'),
    )
  }
  removeOrLog()
  const timer = setInterval(removeOrLog, hourMs).unref()
  return {
    /** Resolves when the store is no longer used: a read of a closed store would end the process. */
    stop() {
      clearInterval(timer)
      return round
    },
  }
}
