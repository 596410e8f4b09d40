// Wires everything that effects use: the engine and its parts, the edge, the builder.
import { hostname } from 'node:os'
import { join } from 'node:path'
import pLimit from 'p-limit'
import type { FreshData } from '../../machines/server-backup.ts'
import type { Storage } from '../../storage/index.ts'
import type { AccountPorts } from '../account/ports.ts'
import type { Config } from '../config/config.ts'
import { builderOptions, type ImageBuilder } from '../docker/build/build.ts'
import { openBuildCache } from '../docker/build/build-cache.ts'
import { createClassic } from '../docker/build/build-classic.ts'
import { createFallback, openBuilderWatch } from '../docker/build/build-fallback.ts'
import { type BuildGuard, openBuildGuard } from '../docker/build/build-guard.ts'
import { openDatastores } from '../docker/containers/datastores.ts'
import { sampleInstances } from '../docker/containers/instance-usage.ts'
import { type Instances, openInstances } from '../docker/containers/instances.ts'
import { openOneShotContainers } from '../docker/containers/one-shot-containers.ts'
import { type Engine, openEngine } from '../docker/engine/client.ts'
import { watchEvents } from '../docker/engine/events.ts'
import type { Owner } from '../docker/engine/names.ts'
import type { Network } from '../docker/network/networks.ts'
import { formatSubnet, parseSubnet } from '../docker/network/networks.ts'
import { serverBackupsFolder } from '../domain/backup-files.ts'
import type { Publication } from '../domain/domains.ts'
import type { TransferProgress } from '../effects/backup/ports.ts'
import { openBackupPlaces } from '../effects/backup-place/backup-places.ts'
import { keepImageVolumes } from '../effects/disk/image-volumes.ts'
import { createInstanceEvents } from '../effects/engine/instance-events.ts'
import type { EnginePorts } from '../effects/engine/ports.ts'
import { createEngineReadiness } from '../effects/engine/readiness.ts'
import { InstanceReports } from '../effects/instances/reports.ts'
import { Isolation } from '../effects/isolation/isolation.ts'
import { createJobSlots } from '../effects/job-run/job-slots.ts'
import { createRunInputs } from '../effects/job-run/run-inputs.ts'
import { AccessLog } from '../effects/logs/access-log.ts'
import { LogCollector } from '../effects/logs/log-collector.ts'
import { createNotify } from '../effects/notification/notify.ts'
import type { SharedPorts } from '../effects/ports.ts'
import type { ServerBackupSettings } from '../effects/server-backup/server-backup.ts'
import { InstanceMetrics } from '../effects/traffic/instance-metrics.ts'
import { TrafficNumbers } from '../effects/traffic/traffic-numbers.ts'
import type { Failure } from '../errors.ts'
import { openFirewall } from '../firewall/firewall.ts'
import type { Logger } from '../logger.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import { openEdge } from './edge.ts'
import { reconcile, removeNameless } from './reconcile.ts'

interface PortsOptions {
  config: Config
  logger: Logger
  onFatal: (reason: string) => void
}

interface Parts {
  storage: Storage
  supervisor: Supervisor
  account: AccountPorts
}

export type Ports = ReturnType<typeof openPorts>['ports']

export function openPorts(
  { config, logger, onFatal }: PortsOptions,
  { storage, supervisor, account }: Parts,
) {
  const engine = openEngine(config.docker)
  const owner = { prefix: config.prefix, serverId: storage.serverId, mac: storage.nameMac }
  const settings = settingsOf(config, storage.directory)
  const keeping = { storage, actors: supervisor, engine, owner, settings, logger }
  const instances = openInstances(engine, owner, (container) => keepImageVolumes(keeping, container))
  const parts = { storage, instances, engine, owner, settings, logger }
  const watch = openWatch(config, parts)
  const readiness = createEngineReadiness({
    ...parts,
    subnet: config.subnet,
    reconcile: () => reconcile(parts),
    removeNameless: () => removeNameless(parts),
    onOpen: (network) => {
      logNetwork(network, config.subnet, logger)
      watch.open(network)
    },
    onForeignObjects: (failure: Failure) => onFatal(`${failure.message} (${failure.hint})`),
  })
  const edgeParts = { certificates: () => storage.certificates.pems(), accessLog: watch.accessLog }
  const edge = openEdge(config, parts, edgeParts)
  const builds = openBuilder(config, { engine, owner, logger })
  const ports = {
    ...parts,
    ...watch,
    datastores: openDatastores(engine, owner),
    tools: openOneShotContainers(engine, owner),
    places: openBackupPlaces({ storage, folder: folderOf(settings.backupDir, storage, 'backups') }),
    progress: new Map() as TransferProgress,
    actors: supervisor,
    ...builds.parts,
    buildSlots: pLimit(config['build-concurrency']),
    jobSlots: createJobSlots(config['job-concurrency']),
    runInputs: createRunInputs(),
    edge: edge.edge,
    publication: publicationOf(config, (name) => storage.certificates.covers(name)),
    degradedReasons: new Map<string, string>(),
    downtimes: new Map<string, number>(),
    notify: createNotify({ storage, actors: supervisor }),
    terminalLogins: account.terminalLogins,
    engineReady: readiness.engineReady,
    identity: identityOf(config),
    serverBackups: serverBackupsOf(config, storage),
    startedAt: new Date().toISOString(),
  }
  const close = async () => {
    await watch.close()
    builds.close()
    engine.close()
  }
  return { ports, edge, close }
}

function isolationOf(
  config: Config,
  { storage, logger, owner }: Pick<WatchParts, 'storage' | 'logger' | 'owner'>,
) {
  const hostPorts = [config['http-port'], config['https-port'], ...config['host-ports']]
  return new Isolation({ storage, logger, firewall: openFirewall(), prefix: owner.prefix, hostPorts })
}

interface WatchParts extends Pick<EnginePorts, 'engine' | 'owner'>, Pick<SharedPorts, 'storage' | 'logger'> {
  instances: Instances
}

function openWatch(config: Config, parts: WatchParts) {
  const isolation = isolationOf(config, parts)
  const { storage, engine, owner } = parts
  const instanceEvents = createInstanceEvents()
  const logCollector = new LogCollector({ ...parts, instanceEvents })
  const traffic = new TrafficNumbers()
  const accessLog = new AccessLog({ storage, traffic })
  const watching = new AbortController()
  const instanceMetrics = new InstanceMetrics({
    ...parts,
    instanceEvents,
    services: storage.services,
    sample: () => sampleInstances(engine, owner),
  })
  const reports = new InstanceReports({ ...parts, instanceEvents, logCollector })
  void watchEvents(engine.fork(), owner, instanceEvents.publish, watching.signal, () => reports.refresh())
  const open = ({ bridge }: Network) => {
    isolation.open(bridge)
    logCollector.start()
  }
  const close = async () => {
    await isolation.close()
    await logCollector.stop()
    reports.close()
    instanceMetrics.close()
    watching.abort()
  }
  return { instanceEvents, instanceMetrics, isolation, logCollector, traffic, accessLog, open, close }
}

/** How messages to people name this server. */
function identityOf({ 'dashboard-host': host }: Config) {
  return host ? { name: host, url: `https://${host}` } : { name: hostname(), url: null }
}

export function settingsOf(config: Config, dataDir: string) {
  return {
    dataDir,
    defaultMemoryLimitMb: config['default-memory-limit'],
    defaultCpuLimit: config['default-cpu-limit'],
    pidsLimit: config['pids-limit'],
    keepImages: config['keep-images'],
    keepRuns: config['keep-runs'],
    minFreeDiskMb: config['min-free-disk'],
    trashDays: config['trash-days'],
    localRepositories: config['local-repositories'],
    gitHosts: { denyPrivateHosts: config['deny-private-git-hosts'], localHosts: config['local-git-host'] },
    baseDomain: config['base-domain'],
    deployLimits: {
      fetchMs: config['fetch-timeout'] * 1000,
      buildMs: config['build-timeout'] * 1000,
      startMs: config['start-timeout'] * 1000,
    },
    settleMs: config['settle-time'] * 1000,
    staticImage: config['static-image'],
    postgresImage: config['postgres-image'],
    redisImage: config['redis-image'],
    datastoreBind: config['datastore-bind'],
    datastorePorts: config['datastore-ports'],
    backupDir: config['backup-dir'] || join(dataDir, 'backups'),
  }
}

function serverBackupsOf(config: Config, storage: Storage): ServerBackupSettings {
  const directory = config['server-backup-dir'] || join(storage.directory, serverBackupsFolder)
  return {
    schedule: config['server-backup-schedule'] || null,
    directory,
    place: config['server-backup-place'],
    places: openBackupPlaces({ storage, folder: folderOf(directory, storage, serverBackupsFolder) }),
    freshData: freshDataOf(config['server-backup-with']),
    prefix: config.prefix,
    keepCount: config['server-backup-keep'],
    keepDays: config['server-backup-days'],
  }
}

function freshDataOf(choice: Config['server-backup-with']): FreshData[] {
  if (choice === 'all') return ['datastores', 'disks']
  return choice === 'none' ? [] : [choice]
}

function folderOf(directory: string, storage: Storage, ownName: string) {
  return { directory, isOwn: directory === join(storage.directory, ownName) }
}

function publicationOf(config: Config, hasCertificate: Publication['hasCertificate']): Publication {
  return {
    baseDomain: config['base-domain'],
    edge: {
      mode: config.edge,
      httpPort: config['http-port'],
      httpsPort: config['https-port'],
      dashboardHost: config['dashboard-host'] || null,
    },
    hasCertificate,
  }
}

function logNetwork({ name, subnet }: Network, wanted: string, logger: Logger): void {
  logger.info({ network: name, subnet }, 'the Docker engine is ready')
  if (subnet === formatSubnet(parseSubnet(wanted)!)) return
  const reason = `--subnet is ${wanted}: the subnet was in use, or the network already existed`
  logger.info({ network: name, subnet, reason }, 'the network has another subnet')
}

function openBuilder(
  config: Config,
  { engine, owner, logger }: Pick<EnginePorts, 'engine' | 'owner'> & Pick<SharedPorts, 'logger'>,
) {
  const buildGuard = openGuard(config, owner, logger)
  const cache = openCache(config, engine, logger)
  const builderWatch = openBuilderWatch(engine, {
    onHang: (since) => logger.error({ since }, "Docker's BuildKit hangs; using the classic builder"),
    onWorks: (since) => logger.info({ since }, "Docker's BuildKit works again"),
  })
  const options = builderOptions(owner, buildGuard)
  const driver =
    config.builder === 'buildkit'
      ? createFallback(engine, options, builderWatch)
      : createClassic(engine, options)
  const builder: ImageBuilder = { ...driver, build: (request) => cache.during(() => driver.build(request)) }
  const close = () => {
    builderWatch.close()
    cache.close()
    buildGuard.close()
  }
  return { parts: { builder, builderWatch, buildGuard }, close }
}

function openCache(config: Config, engine: Engine, logger: Logger) {
  return openBuildCache(engine, {
    sizeMb: config['build-cache-size'] || null,
    onPruned: (bytes) => bytes > 0 && logger.info({ bytes }, 'the build cache was pruned'),
    onProblem: (reason) => logger.warn({ reason }, 'the build cache cannot be pruned'),
  })
}

function openGuard(config: Config, owner: Owner, logger: Logger): BuildGuard {
  const guard = openBuildGuard(config.docker, owner, {
    memoryMb: config['build-memory-limit'] || null,
    cpus: config['build-cpu-limit'] || null,
    pids: config['build-pids-limit'] || null,
  })
  const { limits, notEnforcedReason: reason } = guard
  if (reason === null) logger.info({ ...limits }, 'builds are limited')
  else logger.warn({ ...limits, reason }, 'the limits of builds are not in force')
  return guard
}
