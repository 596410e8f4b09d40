// Deletes old records: ended logins of terminals within a minute, because anyone can request them, and every
// hour request ids, sessions, tokens, old deploys, old activity and others.
import { eventLifetimeMs } from '../../storage/events.ts'
import type { Storage } from '../../storage/index.ts'
import type { ServiceRow } from '../../storage/services.ts'
import { serverCaller } from '../account/callers.ts'
import { removeExpiredCredentials } from '../account/ports.ts'
import { imageName, type Owner } from '../docker/engine/names.ts'
import { imagesInUse, unfinishedActors } from '../effects/engine/images-in-use.ts'
import type { Logger } from '../logger.ts'

const hourMs = 60 * 60 * 1000
const loginIntervalMs = 20_000
/** How long the outcome of a restore, a change of owner, a message or a report can be queried. */
const outcomeLifetimeMs = 30 * 24 * hourMs
/** As long as the activity. */
const alertLifetimeMs = 90 * 24 * hourMs

/** Per channel. */
const maxRetainedNotifications = 1000

/** Each browser that signs in has one; those that were not used for long end first. */
const maxSessions = 1000

/** Of each service. */
export interface RetentionLimits {
  keepDeploys: number
  keepRuns: number
  /** Of the logs of its deploys, and the same for those of its job runs. */
  logBytes: number
}

export const standardLimits: RetentionLimits = {
  keepDeploys: 200,
  keepRuns: 1000,
  logBytes: 1024 * 1024 * 1024,
}

export function startRecordRetention(
  storage: Storage,
  owner: Owner,
  logger: Logger,
  limits = standardLimits,
): { stop(): Promise<void> } {
  const removeOldRecords = async () => {
    const expired = Date.now() - eventLifetimeMs
    await storage.events.forgetBefore(new Date(expired).toISOString())
    await storage.events.forgetSurplus()
    // Certificates of the server's own hosts: those of a service are deleted with it.
    await storage.actors.removeFinal('certificate', expired)
    await storage.actors.removeFinal('datastore', expired)
    await storage.actors.removeFinal('backup', expired, null)
    await storage.actors.removeFinal('server-backup', expired, null)
    await storage.actors.removeFinal('disk-removal', expired, null)
    await storage.actors.removeFinal('service-removal', expired, null)
    await storage.actors.removeFinal('git-connection', expired)
    await storage.gitAuthorizations.forgetExpired(Date.now())
    await storage.activity.trim()
    await storage.actors.removeFinal('alert', Date.now() - alertLifetimeMs, null)
    const hasToken = (id: string) => id === serverCaller.id || storage.tokens.byId(id) !== null
    await storage.alerts.forget((id) => storage.actors.record(id) !== null, hasToken)
    await storage.audit.trim()
    await storage.actors.removeFinal('restore', Date.now() - outcomeLifetimeMs, null)
    await storage.actors.removeFinal('disk-chown', Date.now() - outcomeLifetimeMs, null)
    await storage.actors.removeFinal('commit-status', Date.now() - outcomeLifetimeMs, null)
    await storage.actors.removeFinal('notification', Date.now() - outcomeLifetimeMs, null)
    for (const { id } of storage.notificationChannels.list()) {
      await storage.actors.removeOlder('notification', id, maxRetainedNotifications)
    }
    await forgetOldDeploys(storage, owner, limits)
    await forgetOldRuns(storage, limits)
    await removeExpiredCredentials(storage)
    await endSurplusSessions(storage)
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

async function endSurplusSessions({ sessions }: Storage): Promise<void> {
  const newestFirst = sessions.list().sort((a, b) => (a.last_used_at > b.last_used_at ? -1 : 1))
  const surplus = new Set(newestFirst.slice(maxSessions).map(({ id }) => id))
  await sessions.removeWhere(({ id }) => surplus.has(id))
}

/** However large their logs are. */
const leastRetained = 10

/** Except the newest of each service, and those still referred to. Logs go with their deploys. */
export async function forgetOldDeploys(
  storage: Storage,
  owner: Owner,
  limits: RetentionLimits = standardLimits,
): Promise<void> {
  for (const service of storage.services.list()) {
    const isRetained = (id: string) => isReferenced(storage, owner, service, id)
    const count = await retainedCount(storage, 'deploy', service.id, limits.keepDeploys, limits)
    for (const id of await storage.actors.removeOlder('deploy', service.id, count, isRetained)) {
      await storage.releases.remove(id)
      await storage.logs.remove(id)
    }
  }
}

async function forgetOldRuns(storage: Storage, limits: RetentionLimits): Promise<void> {
  for (const { id: serviceId } of storage.services.list()) {
    const count = await retainedCount(storage, 'job-run', serviceId, limits.keepRuns, limits)
    for (const id of await storage.actors.removeOlder('job-run', serviceId, count)) {
      await storage.logs.remove(id)
    }
  }
}

/** The newest ones whose logs have room together. */
async function retainedCount(
  { actors, logs }: Storage,
  kind: string,
  serviceId: string,
  wanted: number,
  { logBytes }: RetentionLimits,
): Promise<number> {
  let sizeBytes = 0
  for (const [place, id] of actors.ids(kind, serviceId, wanted).entries()) {
    sizeBytes += await logs.sizeOf(id)
    if (sizeBytes > logBytes) return Math.min(wanted, Math.max(leastRetained, place))
  }
  return wanted
}

function isReferenced(storage: Storage, owner: Owner, service: ServiceRow, id: string): boolean {
  const { archive_deploy_id, live_deploy_id, desired_deploy_id } = service
  if ([archive_deploy_id, live_deploy_id, desired_deploy_id].includes(id)) return true
  const { deploys, runs } = unfinishedActors(storage.actors, { serviceId: service.id })
  const referred = [
    ...deploys.map((record) => record?.source?.deploy_id),
    ...runs.map((record) => record?.deploy_id),
  ]
  if (referred.includes(id)) return true
  const needOf = imagesInUse({ owner, storage }, { serviceId: service.id })
  const name = imageName(owner, service.name, id)
  const need = needOf({ name, service: service.name, deployId: id, isTree: false })
  if (need !== 'version') return need === 'in-use'
  // The release goes with the image. A damaged record cannot be rolled back to.
  return storage.actors.record(id)?.image === name && storage.releases.has(id)
}
