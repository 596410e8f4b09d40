// Wires everything, once: storage, supervisor, effects, HTTP. Only main.ts and tests import it.
// Mind the order: the lock and the store first, actors before requests, Docker whenever it answers.
import { setTimeout as sleep } from 'node:timers/promises'
import { catalogue } from '../machines/index.ts'
import { eventLifetimeMs } from '../storage/events.ts'
import { openStorage, type Storage } from '../storage/index.ts'
import { type AccountPorts, forgetOver, openAccountPorts, setupCodeFor } from './account/ports.ts'
import { type Config, parseListen } from './config.ts'
import type { Builder } from './docker/build.ts'
import { createClassic } from './docker/build-classic.ts'
import { createBuildKit } from './docker/build-kit.ts'
import { type Engine, openEngine } from './docker/client.ts'
import { watchEvents } from './docker/events.ts'
import { parseImageReference, parseRegistryHost } from './docker/image-reference.ts'
import { openInstances } from './docker/instances.ts'
import type { Owner } from './docker/names.ts'
import type { Network } from './docker/networks.ts'
import { formatSubnet, parseSubnet } from './docker/subnet.ts'
import { createBuildSlots } from './effects/build-slots.ts'
import { deployEffects } from './effects/deploy.ts'
import { createGate, type Gate } from './effects/gate.ts'
import type { Host } from './effects/host.ts'
import { createInstanceEvents } from './effects/instance-events.ts'
import { createObserver } from './effects/observer.ts'
import { reconcile } from './effects/reconcile.ts'
import { serviceRemovalEffects } from './effects/service-removal.ts'
import { terminalLoginEffects } from './effects/terminal-login.ts'
import { type Failure, messageOf } from './errors.ts'
import { typed } from './git/typed.ts'
import { openApi } from './http/api.ts'
import type { HttpContext } from './http/context.ts'
import { createHostCheck, createProxyTrust } from './http/trust.ts'
import type { Logger } from './logger.ts'
import { recordOf } from './supervisor/revival.ts'
import { Supervisor } from './supervisor/supervisor.ts'
import { version } from './version.ts'
import { invitation } from './welcome.ts'

export interface DaemonOptions {
  config: Config
  logger: Logger
  /** The daemon cannot go on (somebody else's Docker objects): the process has to end. */
  onFatal: (reason: string) => void
  /** The store is silent or cannot be trusted: the process has to end without asking it for anything. */
  onPanic: (reason: string) => void
}

export interface Daemon {
  /** Where the API answers. */
  url: string
  /**
   * Takes no new work, lets requests and commits finish, stops. What was under way goes on at the next start.
   */
  stop(): Promise<void>
}

/** How long the engine may be silent at the start before the daemon serves without it. */
const engineGraceMs = 20_000
const stopMs = 10_000
const hourMs = 60 * 60 * 1000

export async function startDaemon({ config, logger, onFatal, onPanic }: DaemonOptions): Promise<Daemon> {
  const storage = await openStorage(config['data-dir'], {
    onPanic,
    onTrouble: (reason) =>
      reason === null
        ? logger.info('the store writes again')
        : logger.error({ reason }, 'the store cannot write: what would change something is refused'),
    onDamage: (reason) => logger.error({ reason }, 'what is stored is damaged'),
    toRecord: (row) => recordOf(row, catalogue),
    onLogError: (error) => logger.error({ err: error }, 'a log file cannot be written'),
  })
  const onParked = (id: string, reason: string) => closeLog(storage, id, reason)
  const supervisor = new Supervisor({ storage, catalogue, logger, onParked })
  const account = openAccountPorts(storage)
  const setupCode = setupCodeFor(storage)
  const { host, gate, close } = openHost({ config, logger, onFatal }, { storage, supervisor, account })
  supervisor.provide({
    deploy: deployEffects(host),
    'service-removal': serviceRemovalEffects(host),
    'terminal-login': terminalLoginEffects(host),
  })
  const restored = await supervisor.restore()
  const start = { isReady: false }
  void awaitEngine(host.engine, gate, logger).then(() => {
    start.isReady = true
  })
  const context = httpContext(config, host, { supervisor, account, ready: () => start.isReady })
  const { name, port } = parseListen(config.listen)
  const api = await openApi(context, { host: name.replace(/^\[|\]$/g, ''), port, logger })
  const forgetting = forgetHourly(storage, logger)
  const url = `http://${name}:${api.port}`
  logger.info({ url, version, dataDir: storage.directory, ...restored }, 'berthd listens')
  if (setupCode !== null) {
    logger.info('there is no account yet: the link on standard output makes it')
    process.stdout.write(invitation({ url, code: setupCode, env: process.env }))
  }

  return {
    url,
    async stop() {
      forgetting.stop()
      await api.stop(stopMs)
      await supervisor.stop(stopMs)
      close()
      await storage.close()
      logger.info('berthd has stopped')
    },
  }
}

/** Everything that effects use. */
function openHost(
  { config, logger, onFatal }: Omit<DaemonOptions, 'onPanic'>,
  { storage, supervisor, account }: { storage: Storage; supervisor: Supervisor; account: AccountPorts },
) {
  const engine = openEngine(config.docker)
  const owner = { prefix: config.prefix, serverId: storage.serverId }
  const instances = openInstances(engine, owner)
  const settings = {
    dataDir: storage.directory,
    defaultMemoryLimitMb: config['default-memory-limit'],
    defaultCpuLimit: config['default-cpu-limit'],
    pidsLimit: config['pids-limit'],
    keepImages: config['keep-images'],
    minFreeDiskMb: config['min-free-disk'],
    baseDomain: config['base-domain'],
    staticImage: config['static-image'],
  }
  const parts = { storage, instances, engine, owner, settings, logger }
  const gate = createGate({
    engine,
    owner,
    subnet: config.subnet,
    reconcile: () => reconcile(parts),
    onOpen: (network) => tellNetwork(network, config.subnet, logger),
    onForeign: (failure: Failure) => onFatal(`${failure.message} (${failure.hint})`),
  })
  const instanceEvents = createInstanceEvents()
  const watching = new AbortController()
  void watchEvents(engine.fork(), owner, instanceEvents.publish, watching.signal)
  const host: Host = {
    ...parts,
    actors: supervisor,
    builder: createBuilder(engine, owner, config),
    buildSlots: createBuildSlots(config['build-concurrency']),
    instanceEvents,
    troubles: new Map(),
    terminalLogins: account.terminalLogins,
    ready: gate.ready,
    startedAt: new Date().toISOString(),
  }
  const close = () => {
    watching.abort()
    engine.close()
  }
  return { host, gate, close }
}

function createBuilder(engine: Engine, owner: Owner, config: Config): Builder {
  if (config.builder === 'buildkit') return createBuildKit(engine, owner)
  return createClassic(engine, { owner, memoryLimitMb: config['build-memory-limit'] || null })
}

function tellNetwork({ name, subnet }: Network, wanted: string, logger: Logger): void {
  logger.info({ network: name, subnet }, 'the Docker engine is ready')
  if (subnet === formatSubnet(parseSubnet(wanted)!)) return
  const reason = `--subnet says ${wanted}: that was taken, or the network was made before`
  logger.info({ network: name, subnet, reason }, 'the network has another subnet')
}

/** Not longer than the grace, whatever the engine does: the daemon then says so and serves. */
async function awaitEngine(engine: Engine, gate: Gate, logger: Logger): Promise<void> {
  const grace = AbortSignal.timeout(engineGraceMs)
  engine.ping().catch((error: unknown) => logger.warn(messageOf(error)))
  const patience = sleep(engineGraceMs, undefined, { ref: false }).then(() => {
    throw new Error(`it did not answer within ${engineGraceMs / 1000} s`)
  })
  try {
    await Promise.race([gate.ready(grace), patience])
  } catch (error) {
    logger.warn({ reason: messageOf(error) }, 'the Docker engine cannot be used; deploys wait until it can')
  }
}

/** Who follows the log of a deploy that is parked must not wait for ever. */
async function closeLog({ logs }: Storage, id: string, reason: string): Promise<void> {
  if (!id.startsWith('dep-') || logs.isEnded(id)) return
  logs.append(id, 'system', `failed: internal: ${reason}`)
  await logs.end(id)
}

function httpContext(
  config: Config,
  host: Host,
  parts: { supervisor: Supervisor; account: AccountPorts; ready: () => boolean },
): HttpContext {
  return {
    version,
    config: {
      baseDomain: config['base-domain'],
      defaultMemoryLimitMb: config['default-memory-limit'],
      defaultCpuLimit: config['default-cpu-limit'],
      minFreeDiskMb: config['min-free-disk'],
      keepImages: config['keep-images'],
      dataDir: host.settings.dataDir,
      deployLimits: {
        fetchMs: config['fetch-timeout'] * 1000,
        buildMs: config['build-timeout'] * 1000,
        startMs: config['start-timeout'] * 1000,
      },
    },
    allowedHosts: createHostCheck([parseListen(config.listen).name, config['dashboard-host']]),
    isTrustedProxy: createProxyTrust(config['trusted-proxy']),
    ...parts.account,
    ready: parts.ready,
    storage: host.storage,
    actors: parts.supervisor,
    observe: createObserver(host),
    parse: {
      ...typed,
      image: (text) => parseImageReference(text).reference,
      registryHost: parseRegistryHost,
    },
  }
}

/** What is over and was kept for a while: ids of requests, sessions, tokens, terminal logins. */
function forgetHourly(storage: Storage, logger: Logger): { stop(): void } {
  const startedAt = Date.now()
  const forget = async () => {
    const expired = Date.now() - eventLifetimeMs
    await storage.events.forgetBefore(new Date(expired).toISOString())
    // None of an earlier life of the daemon can be answered any more.
    await storage.actors.forgetFinal('terminal-login', Math.max(startedAt, expired))
    await forgetOver(storage)
  }
  const forgetQuietly = () =>
    void forget().catch((error: unknown) =>
      logger.warn({ err: error }, 'what is over could not be forgotten'),
    )
  forgetQuietly()
  const timer = setInterval(forgetQuietly, hourMs).unref()
  return { stop: () => clearInterval(timer) }
}
