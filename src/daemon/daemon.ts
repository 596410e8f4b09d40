// Wires everything, once: storage, supervisor, effects, HTTP. Only berthd.ts and tests import it. The order
// matters: the lock and the store first, actors before requests, Docker whenever it responds.
import { catalogue } from '../../machines/index.ts'
import type { ActorRow } from '../../storage/actors/actors.ts'
import { openStorage, type Storage, type StorageOptions } from '../../storage/index.ts'
import { schemaOfAutoDeploys } from '../../storage/store/migrations.ts'
import { type Callers, serverCaller } from '../account/callers.ts'
import { openAccountPorts, setupCodeFor } from '../account/ports.ts'
import { abortable } from '../async/abortable.ts'
import { withTimeout } from '../async/with-timeout.ts'
import { type Config, clearTextListeners, parseListen } from '../config/config.ts'
import { edgeId } from '../domain/domains.ts'
import { alertEffects } from '../effects/alert/alert.ts'
import { autoDeployEffects } from '../effects/auto-deploy/auto-deploy.ts'
import { keepAutoDeploys } from '../effects/auto-deploy/keeper.ts'
import { backupEffects } from '../effects/backup/backup.ts'
import { certificateEffects } from '../effects/certificate/certificate.ts'
import { commitStatusEffects } from '../effects/commit-status/commit-status.ts'
import { keepCommitStatuses } from '../effects/commit-status/keeper.ts'
import { cronScheduleEffects } from '../effects/cron-schedule/cron-schedule.ts'
import { datastoreEffects } from '../effects/datastore/datastore.ts'
import { deployEffects } from '../effects/deploy/deploy.ts'
import { diskChownEffects } from '../effects/disk-chown.ts'
import { diskRemovalEffects } from '../effects/disk-removal.ts'
import { edgeEffects } from '../effects/edge/edge.ts'
import { requireMayResume } from '../effects/engine/resume-check.ts'
import { removeKeyFiles } from '../effects/git-connection/deploy-keys.ts'
import { gitConnectionEffects } from '../effects/git-connection/git-connection.ts'
import { jobRunEffects } from '../effects/job-run/job-run.ts'
import { notificationEffects } from '../effects/notification/notification.ts'
import { restoreEffects } from '../effects/restore/restore.ts'
import { startServerBackupSchedule } from '../effects/server-backup/schedule.ts'
import { serverBackupEffects } from '../effects/server-backup/server-backup.ts'
import { serviceRemovalEffects } from '../effects/service-removal.ts'
import { terminalLoginEffects } from '../effects/terminal-login.ts'
import { codeOf, Failure, messageOf } from '../errors.ts'
import { invitation, printsToJournal } from '../host-commands/setup-link.ts'
import { openApi } from '../http/pipeline/api.ts'
import { type Inspector, openInspector } from '../inspect/inspector.ts'
import type { Logger } from '../logger.ts'
import { endings, forgetOwnEnd, type OwnEnd, readOwnEnd } from '../own-end.ts'
import { duration } from '../quantities.ts'
import { Supervisor } from '../supervisor/supervisor.ts'
import { recordOf } from '../supervisor/transition.ts'
import { version } from '../version.ts'
import { createAlerts } from './alerts.ts'
import { createCertificates } from './certificates.ts'
import { httpContext } from './http-context.ts'
import { openPorts, type Ports, settingsOf } from './ports.ts'
import { startRecordRetention } from './record-retention.ts'

export interface DaemonOptions {
  config: Config
  logger: Logger
  /** The daemon cannot continue, as with another server's Docker objects: the process must exit. */
  onFatal: (reason: string) => void
  /** The store is unresponsive or unreliable: the process must end without using it. */
  onPanic: (reason: string) => void
}

export interface Daemon {
  /** The address of the API. */
  url: string
  /** Resolves when `GET /healthz` answers: with the engine, or after a grace period without. */
  ready: Promise<void>
  /** Options that are read whenever they are used now have the values of `config`. */
  reload(config: Config): void
  /** Refuses new work, waits for requests and commits, and stops. Pending work resumes at the next start. */
  stop(): Promise<void>
}

/** How long the engine may be silent at the start before the daemon serves without it. */
const engineGraceMs = 20_000
const stopTimeoutMs = 10_000

export async function startDaemon({ config, logger, onFatal, onPanic }: DaemonOptions): Promise<Daemon> {
  const former: { schema: number | null } = { schema: null }
  const storage = await openStorage(config['data-dir'], storageOptions({ config, logger, onPanic }, former))
  const supervisor = openSupervisor(storage, logger, (id) => ports.jobSlots.release(id))
  const account = openAccountPorts(storage)
  const setupCode = setupCodeFor(storage)
  // Exiting during a write would hang: the exit waits for lmdb's writer, and the writer for this thread.
  const exitAfterWrites = (reason: string) => void storage.close().finally(() => onFatal(reason))
  const options = { config, logger, onFatal: exitAfterWrites }
  const { ports, edge, close } = openPorts(options, { storage, supervisor, account })
  const certificates = createCertificates(config, ports, supervisor)
  const alerts = createAlerts(ports)
  supervisor.provide({
    certificate: certificateEffects(certificates.ports),
    edge: edgeEffects(ports, edge.parts),
    ...effectsOf(ports),
  })
  await awaitCurrentNames(ports)
  await removeKeyFiles(ports)
  const lastEnd = readOwnEnd(storage.directory)
  const restored = await supervisor.restore(lastEnd)
  forgetOwnEnd(storage.directory)
  logSuspects(logger, lastEnd, supervisor.suspects())
  const start = { isReady: false }
  const ready = awaitEngine(ports).then(() => {
    start.isReady = true
  })
  const isReady = () => start.isReady
  const context = httpContext(config, ports, {
    alerts,
    supervisor,
    account,
    ready: isReady,
    edge,
    certificates,
  })
  const { name, host, port } = parseListen(config.listen)
  const api = await openApi(context, { host, port, logger })
  const inspector = await startInspector(config, supervisor, account.callers, logger)
  edge.open(api.port)
  await configureEdge(storage, supervisor, config)
  const stopCertificates = certificates.start()
  const stopServerBackups = startServerBackupSchedule(ports)
  const stopAutoDeploys = keepAutoDeploys(ports)
  const stopCommitStatuses = keepCommitStatuses(ports)
  alerts.start()
  const forgetting = startRecordRetention(storage, ports.owner, logger, {
    keepDeploys: config['keep-deploys'],
    keepRuns: config['keep-runs'],
    logBytes: config['finished-log-size'] * 1024 * 1024,
  })
  const url = `http://${name}:${api.port}`
  if (former.schema !== null && former.schema < schemaOfAutoDeploys) logAutoDeploysOff(storage, logger)
  const parked = logParked(storage, logger)
  logger.info({ url, version, dataDir: storage.directory, ...restored, parked }, 'berthd listens')
  if (inspector) logger.info({ port: inspector.port }, 'the inspector listens')
  for (const { listener, warning } of clearTextListeners(config)) logger.warn({ listener }, warning)
  if (setupCode !== null) {
    storage.setupCode.saveAddress(url)
    logger.info('there is no account yet: berthd setup-link prints the link that creates it')
    if (!printsToJournal(process.env))
      process.stdout.write(invitation({ url, code: setupCode, env: process.env }))
  }

  return {
    url,
    ready,
    reload(changed) {
      Object.assign(ports.settings, settingsOf(changed, storage.directory))
      Object.assign(context.config, ports.settings)
      ports.buildSlots.concurrency = changed['build-concurrency']
    },
    async stop() {
      await forgetting.stop()
      stopCertificates()
      stopServerBackups()
      stopAutoDeploys()
      stopCommitStatuses()
      await alerts.stop()
      await inspector?.stop()
      await api.stop(stopTimeoutMs)
      await supervisor.stop(stopTimeoutMs)
      await close()
      await storage.close()
      logger.info('berthd has stopped')
    },
  }
}

function openSupervisor(storage: Storage, logger: Logger, release: (id: string) => void): Supervisor {
  const onParked = async (id: string, reason: string) => {
    release(id)
    await closeLog(storage, id, reason)
  }
  const assertCanResume = (row: ActorRow, snapshot: unknown) => requireMayResume(storage, row, snapshot)
  return new Supervisor({ storage, catalogue, logger, onParked, assertCanResume })
}

/** Null without `--inspect`, and if its address cannot be used: services do not depend on it. */
async function startInspector(
  config: Config,
  actors: Supervisor,
  callers: Callers,
  logger: Logger,
): Promise<Inspector | null> {
  if (config.inspect === '') return null
  const opening = openInspector({
    ...parseListen(config.inspect),
    origins: config['inspect-origin'],
    isServerToken: (token) => callers.byToken(token) === serverCaller,
    machines: catalogue,
    actors,
  })
  return opening.catch((error: unknown) => {
    logger.warn({ reason: messageOf(error) }, 'berthd starts without the inspector: change --inspect')
    return null
  })
}

/** Effects of the kinds that need only the host. */
function effectsOf(ports: Ports) {
  return {
    alert: alertEffects(ports),
    'auto-deploy': autoDeployEffects(ports),
    backup: backupEffects(ports),
    'commit-status': commitStatusEffects(ports),
    'cron-schedule': cronScheduleEffects(ports),
    datastore: datastoreEffects(ports),
    deploy: deployEffects(ports),
    'disk-chown': diskChownEffects(ports),
    'disk-removal': diskRemovalEffects(ports),
    'git-connection': gitConnectionEffects(ports),
    'job-run': jobRunEffects(ports),
    notification: notificationEffects(ports),
    restore: restoreEffects(ports),
    'server-backup': serverBackupEffects(ports),
    'service-removal': serviceRemovalEffects(ports),
    'terminal-login': terminalLoginEffects(ports),
  }
}

function storageOptions(
  { config, logger, onPanic }: Omit<DaemonOptions, 'onFatal'>,
  former: { schema: number | null },
): StorageOptions {
  return {
    onPanic,
    onWriteFailure: (reason) =>
      reason === null
        ? logger.info('the store writes again')
        : logger.error({ reason }, 'the store cannot write: rejecting all changes'),
    onSchemaCopy(path, schema) {
      former.schema = schema
      logger.info({ path }, 'the store has a new schema; this is a copy of the former one')
    },
    onDamage: (reason) => logger.error({ reason }, 'stored data is corrupt'),
    auditDays: config['audit-days'],
    toRecord: (row) => recordOf(row, catalogue),
    onLogError: (error) => logger.error({ err: error }, 'a log file cannot be written'),
    serviceLogs: { sizeMb: config['runtime-log-size'], days: config['runtime-log-days'] },
  }
}

/**
 * At the first start after an upgrade: actors know only the current names of what the former version created.
 * Throws `docker_unavailable` when the engine does not respond.
 */
async function awaitCurrentNames({ storage, engineReady }: Pick<Ports, 'storage' | 'engineReady'>) {
  if (!storage.formerNames.areExpected()) return
  const late = new Failure(
    'docker_unavailable',
    'the first start after this upgrade needs the Docker engine',
    'start the engine first: systemctl start docker',
  )
  const ready = (signal: AbortSignal) => abortable(engineReady(signal), signal)
  await withTimeout(engineGraceMs, undefined, ready, late)
}

/** Waits at most for the grace period: then the daemon logs it and serves without the engine. */
async function awaitEngine({
  engine,
  engineReady,
  logger,
}: Pick<Ports, 'engine' | 'engineReady' | 'logger'>) {
  engine.ping().catch((error: unknown) => logger.warn(messageOf(error)))
  const late = new Error(`it did not respond within ${duration(engineGraceMs)}`)
  const ready = (signal: AbortSignal) => abortable(engineReady(signal), signal)
  try {
    await withTimeout(engineGraceMs, undefined, ready, late)
  } catch (error) {
    logger.warn({ reason: messageOf(error) }, 'the Docker engine cannot be used; deploys wait until it can')
  }
}

/** A lost edge actor is created again: it needs only the options, and no service is reachable without it. */
async function configureEdge(storage: Storage, supervisor: Supervisor, config: Config): Promise<void> {
  const settings = { mode: config.edge, httpPort: config['http-port'], httpsPort: config['https-port'] }
  const at = new Date().toISOString()
  const isKnown = storage.actors.record(edgeId) !== null
  if (!isKnown && config.edge === 'off') return
  // A parked or discarded edge stays enabled as long as the option is on.
  const isWanted = config.edge !== 'off' || storage.actors.parkedOf(edgeId) !== null
  const spawn = () => supervisor.spawn('edge', edgeId, { id: edgeId, at, ...settings })
  if (isWanted) {
    await spawn().catch(async (error: unknown) => {
      if (codeOf(error) !== 'not_recoverable') throw error
      await supervisor.discard(edgeId)
      await spawn()
    })
  }
  if (isKnown) await supervisor.send(edgeId, { type: 'configure', at, ...settings })
}

/** Once, at the first start that could deploy pushes. */
function logAutoDeploysOff({ services }: Storage, logger: Logger): void {
  const names = services.list().flatMap(({ name, repo_url }) => (repo_url === null ? [] : [name]))
  if (names.length === 0) return
  const about = { services: names.length, first: names.slice(0, maxNamesLogged) }
  logger.info(about, 'pushes to these services are not deployed: berth update NAME --auto-deploy on')
}

const maxNamesLogged = 20
const maxParkedLogged = 20

/** Runs at every start, because a parked actor does nothing while its service may appear healthy. */
function logParked({ actors }: Storage, logger: Logger): number {
  const parked = [...actors.parked()]
  for (const { id, kind, service_id, at: since, code, reason } of parked.slice(0, maxParkedLogged)) {
    logger.warn({ actor: id, kind, service: service_id, since, code, reason }, 'an actor is still parked')
  }
  if (parked.length > 0) {
    logger.warn({ parked: parked.length }, 'berth actors --parked lists them; berth retry, berth discard')
  }
  return parked.length
}

function logSuspects(logger: Logger, lastEnd: OwnEnd | null, suspects: string[]): void {
  if (lastEnd) logger.warn({ reason: endings[lastEnd.reason] }, 'the last process of berthd ended itself')
  if (suspects.length > 0) {
    const actors = suspects.slice(0, maxParkedLogged)
    logger.warn({ suspects: suspects.length, actors }, 'what berthd read when it ended is read in turns')
  }
}

/** A client that follows the log of a parked deploy or run must not wait indefinitely. */
async function closeLog({ logs }: Storage, id: string, reason: string): Promise<void> {
  if (!/^(dep|job)-/.test(id) || logs.isEnded(id)) return
  logs.append(id, 'system', `failed: internal: ${reason}`, undefined, { mark: 'outcome' })
  await logs.end(id)
}
