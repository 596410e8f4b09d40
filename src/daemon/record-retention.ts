// Deletes old records: ended logins of terminals within a minute, because anyone can request them, and every
// hour request ids, sessions, tokens, old deploys and others.
import { eventLifetimeMs } from '../../storage/events.ts'
import type { Storage } from '../../storage/index.ts'
import { removeExpiredCredentials } from '../account/ports.ts'
import type { Owner } from '../docker/engine/names.ts'
import { forgetOldDeploys } from '../effects/deploy/end/forgetting.ts'
import type { Logger } from '../logger.ts'

const hourMs = 60 * 60 * 1000
const loginIntervalMs = 20_000
/** How long the outcome of a restore or of a change of owner can be queried. */
const outcomeLifetimeMs = 30 * 24 * hourMs

export function startRecordRetention(
  storage: Storage,
  owner: Owner,
  logger: Logger,
): { stop(): Promise<void> } {
  const removeOldRecords = async () => {
    const expired = Date.now() - eventLifetimeMs
    await storage.events.forgetBefore(new Date(expired).toISOString())
    // Certificates of the server's own hosts: those of a service are deleted with it.
    await storage.actors.removeFinal('certificate', expired)
    await storage.actors.removeFinal('datastore', expired)
    await storage.actors.removeFinal('backup', expired, null)
    await storage.actors.removeFinal('disk-removal', expired, null)
    await storage.actors.removeFinal('git-connection', expired)
    await storage.gitAuthorizations.forgetExpired(Date.now())
    await storage.actors.removeFinal('restore', Date.now() - outcomeLifetimeMs, null)
    await storage.actors.removeFinal('disk-chown', Date.now() - outcomeLifetimeMs, null)
    await forgetOldDeploys(storage, owner)
    await removeExpiredCredentials(storage)
  }
  const rounds = [
    repeat(hourMs, logger, removeOldRecords),
    repeat(loginIntervalMs, logger, () =>
      storage.actors.removeFinal('terminal-login', Number.POSITIVE_INFINITY),
    ),
  ]
  return {
    /** Resolves when the store is no longer used: a read of a closed store would end the process. */
    async stop() {
      await Promise.all(rounds.map((round) => round.stop()))
    },
  }
}

function repeat(intervalMs: number, logger: Logger, work: () => Promise<void>) {
  let round: Promise<void> = Promise.resolve()
  const workOrLog = () => {
    round = round.then(work).catch((error: unknown) => {
      logger.warn({ err: error }, 'old records could not be deleted')
    })
  }
  workOrLog()
  const timer = setInterval(workOrLog, intervalMs).unref()
  return {
    stop() {
      clearInterval(timer)
      return round
    },
  }
}
