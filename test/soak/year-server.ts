// A server without Docker and without an edge: the real store, supervisor, HTTP API, claims of certificates,
// and backups of the server. Effects that would need an engine, an edge or an authority end at once.
import { join } from 'node:path'
import { catalogue } from '../../machines/index.ts'
import type { RetentionLimits } from '../../src/daemon/record-retention.ts'
import { startRecordRetention } from '../../src/daemon/record-retention.ts'
import { pruneBackups } from '../../src/effects/backup/backup.ts'
import { openBackupPlaces } from '../../src/effects/backup-place/backup-places.ts'
import { createCertificateClaims, createRoutedHosts } from '../../src/effects/certificate/claims.ts'
import { type ServerBackupPorts, serverBackupEffects } from '../../src/effects/server-backup/server-backup.ts'
import { openApi } from '../../src/http/pipeline/api.ts'
import { createLogger } from '../../src/logger.ts'
import { Supervisor } from '../../src/supervisor/supervisor.ts'
import { openStorage, type Storage } from '../../storage/index.ts'
import { createContext } from '../support/http/http-context.ts'
import { working as datastoreWorks } from '../support/machines/datastore-chart.ts'
import { grantedTurn, happyEffects } from '../support/machines/deploy-chart.ts'
import { type TestEffect, waits } from '../support/machines/machine-run.ts'
import { endlessEffects } from '../support/storage/parked-kinds.ts'
import type { YearClock } from './year-clock.ts'

const dayMs = 24 * 60 * 60 * 1000
const logger = createLogger({ level: 'silent' })
const at = () => new Date(Date.now()).toISOString()
const edge = { mode: 'host', httpPort: 80, httpsPort: 443, dashboardHost: null } as const
const longMs = 600_000

export interface YearOptions {
  directory: string
  clock: YearClock
  limits: RetentionLimits
  /** The certificate of every host. */
  pem: string
}

export type YearServer = Awaited<ReturnType<typeof startYearServer>>

export async function startYearServer({ directory, clock, limits, pem }: YearOptions) {
  const onPanic = (reason: string) => {
    throw new Error(reason)
  }
  const storage = await openStorage(directory, { onPanic })
  const supervisor = new Supervisor({ storage, catalogue, logger })
  const standard = createContext(storage)
  const hosts = { baseDomain: 'localhost', edge, hasCertificate: storage.certificates.covers }
  const routedHosts = createRoutedHosts(storage, hosts, false)
  const claims = createCertificateClaims({
    storage,
    settings: { acmeEmail: 'ada@example.com', acmeDirectory: 'https://ca.example.com' },
    logger,
    routedHosts,
    actors: supervisor,
  })
  const serverBackups = serverBackupsIn(storage)
  const backupPorts = {
    storage,
    actors: supervisor,
    logger,
    serverBackups,
    settings: { dataDir: directory, minFreeDiskMb: 0 },
    engineReady: async () => undefined,
  } as unknown as ServerBackupPorts
  supervisor.provide({
    ...endlessEffects(),
    backup: backupEffects(storage, supervisor),
    certificate: certificateEffects({ storage, clock, routedHosts, pem }),
    datastore: datastoreWorks,
    deploy: deployEffects(storage),
    edge: { ...endlessEffects().edge, startEdge: async () => ({ at: at(), generation: 1 }) },
    'job-run': { ...endlessEffects()['job-run'], ...jobRunEffects },
    'server-backup': serverBackupEffects(backupPorts),
  })
  await supervisor.restore()
  await supervisor.spawn('edge', 'edge', { id: 'edge', at: at(), ...edge })
  const deployLimits = { fetchMs: longMs, buildMs: longMs, startMs: longMs }
  const context = {
    ...standard,
    actors: supervisor,
    config: { ...standard.config, edge, deployLimits },
    serverBackups: { place: serverBackups.place, places: serverBackups.places },
  }
  const api = await openApi(context, { host: '127.0.0.1', port: 0, logger })
  const stopClaims = claims.start()
  const owner = { prefix: 'berth', serverId: storage.serverId, mac: storage.nameMac }
  return {
    port: api.port,
    storage,
    supervisor,
    /** As every hour. */
    retain: () => startRecordRetention(storage, owner, logger, limits).stop(),
    async stop() {
      stopClaims()
      await api.stop(10_000)
      await supervisor.stop(10_000)
      await storage.close()
    },
  }
}

function serverBackupsIn(storage: Storage): ServerBackupPorts['serverBackups'] {
  const directory = join(storage.directory, '..', 'server-backups')
  const places = openBackupPlaces({ storage, folder: { directory, isOwn: true } })
  return {
    schedule: null,
    directory,
    place: 'folder',
    places,
    freshData: [],
    prefix: 'berth',
    keepCount: 7,
    keepDays: 0,
  }
}

/** The instances of a deploy are kept until another one is live. */
function deployEffects(storage: Storage): Record<string, TestEffect> {
  return happyEffects({
    awaitTurn: async ({ serviceId }) => ({
      ...grantedTurn,
      at: at(),
      preDeploy: true,
      settleMs: 0,
      drainMs: 0,
      formerDeployId: storage.services.get(serviceId as string)?.live_deploy_id ?? null,
    }),
    pullImage: async ({ id, source }) => {
      if ((source as { image: string }).image.endsWith(':broken'))
        throw { code: 'pull_failed', message: 'no such image', at: at() }
      return { at: at(), image: `berth/shop:${id}`, source }
    },
    runPreDeploy: async ({ id }) => {
      storage.logs.append(id as string, 'stdout', 'a line of the pre-deploy command')
      return { at: at() }
    },
    keepInstances: ({ id, serviceId }, signal) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const live = storage.services.get(serviceId as string)?.live_deploy_id
          if (live === id) return
          end()
          resolve({ at: at() })
        }
        const end = storage.changes.subscribe(({ kind, service_id }) => {
          if (kind === 'service' && service_id === serviceId) look()
        })
        signal.addEventListener('abort', () => {
          end()
          reject(signal.reason)
        })
        look()
      }),
  })
}

const ended = () => ({ at: at(), exitCode: 0, startedAt: at(), finishedAt: at() })
const jobRunEffects: Record<string, TestEffect> = {
  awaitTurn: async ({ command }) => ({ at: at(), deployId: 'dep-1', image: 'berth/shop:1', command }),
  startRun: async () => ({ at: at(), startedAt: at() }),
  followRun: async () => ({ ...ended(), trouble: null, code: '' }),
  stopRun: async () => ended(),
  clearRun: async () => ({ at: at() }),
}

function backupEffects(storage: Storage, actors: Supervisor): Record<string, TestEffect> {
  return {
    dumpDatastore: async () => ({ at: at(), sizeBytes: 1, sha256: 'a' }),
    checkBackup: async () => ({ at: at() }),
    discardDump: async () => ({ at: at() }),
    awaitRetry: waits,
    pruneBackups: async ({ datastoreId }) => {
      await pruneBackups({ storage, actors }, { datastoreId: datastoreId as string })
      return { at: at() }
    },
    removeBackup: async () => ({ at: at() }),
  }
}

/** An authority whose certificates are valid for 90 days. */
function certificateEffects({
  storage,
  clock,
  routedHosts,
  pem,
}: Pick<YearOptions, 'clock' | 'pem'> & {
  storage: Storage
  routedHosts: (serviceId: string | null) => string[]
}): Record<string, TestEffect> {
  const isRouted = ({ serviceId, host }: Record<string, unknown>) =>
    routedHosts(serviceId as string | null).includes(host as string)
  return {
    checkHost: async (input) => ({ at: at(), isRouted: isRouted(input), trouble: null }),
    obtainCertificate: async ({ host }) => {
      storage.certificates.put(host as string, pem)
      const validity = {
        notBefore: at(),
        notAfter: new Date(Date.now() + 90 * dayMs).toISOString(),
        directoryUrl: 'https://ca.example.com',
      }
      return { at: at(), validity, trouble: null }
    },
    installCertificate: async () => ({ at: at() }),
    keepWatch: async (input, signal) => {
      await clock.until(Date.parse(input.until as string), signal)
      return { at: at(), news: isRouted(input) ? 'due' : 'unrouted', warnedDays: null }
    },
    releaseCertificate: async ({ host }) => {
      storage.certificates.remove(host as string)
      return { at: at() }
    },
  }
}
