// The API on a real port over a real store, with fake actors that only store records. Cleans up
// after the test.
// Nothing runs: a test sets the outcome of a deploy with `setDeploy`.
import { connect } from 'node:net'
import type { TestContext } from 'node:test'
import { argon2id, hash, verify } from 'argon2'
import { type AnyEventObject, getInitialSnapshot } from 'xstate'
import * as alert from '../../../machines/alert.ts'
import * as deploy from '../../../machines/deploy/deploy.ts'
import type { DeployInput } from '../../../machines/deploy/deploy-context.ts'
import * as gitConnection from '../../../machines/git-connection/git-connection.ts'
import * as serviceRemoval from '../../../machines/service-removal.ts'
import * as terminalLogin from '../../../machines/terminal-login.ts'
import { createPasswords, dummyHash } from '../../../src/account/passwords.ts'
import { openAccountPorts } from '../../../src/account/ports.ts'
import type { Deploy } from '../../../src/api/deploy.ts'
import { parseImageReference, parseRegistryHost } from '../../../src/docker/images/image-reference.ts'
import { alertEffects } from '../../../src/effects/alert/alert.ts'
import { openBackupPlaces } from '../../../src/effects/backup-place/backup-places.ts'
import { openDeployKeys } from '../../../src/effects/git-connection/deploy-keys.ts'
import { openGitAccounts } from '../../../src/effects/git-connection/git-accounts.ts'
import { gitConnectionEffects } from '../../../src/effects/git-connection/git-connection.ts'
import type { GitConnectionPorts } from '../../../src/effects/git-connection/ports.ts'
import { terminalLoginEffects } from '../../../src/effects/terminal-login.ts'
import { Failure } from '../../../src/errors.ts'
import { typed } from '../../../src/git/repository.ts'
import { openApi } from '../../../src/http/pipeline/api.ts'
import type { ActorPort, HttpContext } from '../../../src/http/pipeline/context.ts'
import type { Logger } from '../../../src/logger.ts'
import type { EventOptions, SpawnOptions } from '../../../src/supervisor/options.ts'
import { Supervisor } from '../../../src/supervisor/supervisor.ts'
import type { ActorRecord, By } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import { testHostRules } from '../git/git-server.ts'
import { silentLogger, temporaryStorage } from '../supervisor/supervision.ts'

const someBuilds = {
  builder: 'buildkit' as const,
  memory_limit_mb: 4096,
  cpu_limit: 1.75,
  pids_limit: 4096,
  limits_in_force: false,
  limits_reason: 'a test',
  cache_size_mb: 10_240,
}

export const token = 'bth_test'

export interface Answer {
  status: number
  headers: Headers
  text: string
  // Untyped, because tests know what to expect.
  body: Record<string, unknown>
}

export interface RequestOptions {
  body?: unknown
  headers?: Record<string, string>
  token?: string | null
}

/** Serves the API; `overrides` replace parts of its context. */
export async function startApi(
  t: TestContext,
  { logger = silentLogger, ...overrides }: Partial<HttpContext> & { logger?: Logger } = {},
) {
  const storage = await temporaryStorage(t)
  const standard = { ...createContext(storage), ...overrides }
  const { actors, git } = withRealActors(t, storage, standard)
  const context = { ...standard, actors, git, ...overrides }
  const server = await openApi(context, { host: '127.0.0.1', port: 0, logger })
  t.after(() => server.stop(0))
  const url = `http://127.0.0.1:${server.port}`
  return {
    url,
    server,
    storage,
    context,
    call: (method: string, path: string, requested: RequestOptions = {}) =>
      call(url, method, path, requested),
    raw: (text: string) => raw(server.port, text),
    setDeploy: (id: string, fields: Partial<Deploy>) => setDeploy(storage, id, fields),
  }
}

export type Api = Awaited<ReturnType<typeof startApi>>

const parse: HttpContext['parse'] = {
  ...typed,
  image: (text) => parseImageReference(text).reference,
  registryHost: parseRegistryHost,
}

/** An idle engine and host. */
const calm: HttpContext['observe'] = {
  missingSince: async () => [],
  isolation: () => ({ enforced: true, reason: null }),
  builderHangsSince: () => null,
  instances: async () => [],
  degradedReason: () => null,
  engine: async () => ({ version: '20.10.0', cpus: 2, memoryBytes: 1024 }),
  diskFreeBytes: async () => 2 ** 40,
  diskUsage: () => null,
  usage: () => null,
  counters: () => ({ restarts: 0, cpuSeconds: 0 }),
  disks: async () => [],
  assertVolumeFree: async () => undefined,
  databaseBytes: async () => 8 * 1024 ** 2,
  leftBehind: async () => [],
  progress: () => null,
  checkLogin: async ({ host, password }) => {
    if (password === 'wrong') throw new Failure('invalid_request', `${host} refuses the password`)
  },
  // Every image exists except names that end in `-gone`.
  hasImage: async (name) => !name.endsWith('-gone'),
}

/** The cheapest parameters: hashing would dominate the duration of these tests. */
export const cheapHasher = {
  hash: (password: string) =>
    hash(password, { type: argon2id, memoryCost: 1024, timeCost: 2, parallelism: 1 }),
  verify: async (known: string, password: string) => known !== dummyHash && verify(known, password),
}

function nothingRuns(): never {
  throw new Error('nothing runs here')
}

const noWildcard = { wildcard: null, wildcard_by: null }
export function createContext(storage: Storage): HttpContext {
  const placesIn = (name: string) =>
    openBackupPlaces({ storage, folder: { directory: `${storage.directory}/${name}`, isOwn: true } })
  return {
    version: '0.0.0-test',
    config: {
      baseDomain: 'localhost',
      edge: { mode: 'host', httpPort: 80, httpsPort: 443, dashboardHost: null },
      defaultMemoryLimitMb: 512,
      defaultCpuLimit: 1,
      minFreeDiskMb: 1024,
      datastoreBind: '127.0.0.1',
      builds: someBuilds,
      keepImages: 5,
      dataDir: storage.directory,
      trashDays: 7,
      backupDir: `${storage.directory}/backups`,
      prefix: 'berth',
      deployLimits: { fetchMs: 1000, buildMs: 1000, startMs: 1000 },
    },
    firstRecoveryKey: async () => null,
    allowedHosts: (host) => /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host),
    noteUse: () => undefined,
    isTrustedProxy: () => false,
    edgeSecret: null,
    ...openAccountPorts({ ...storage, serverToken: token }, createPasswords(cheapHasher)),
    ready: () => true,
    storage,
    backupPlaces: placesIn('backups'),
    serverBackups: { place: 'folder', places: placesIn('server-backups') },
    actors: createActors(storage),
    // A copy per test, because tests replace parts of it.
    observe: { ...calm },
    files: { inspect: nothingRuns, read: nothingRuns, write: nothingRuns },
    shells: { open: nothingRuns },
    git: openGitAccounts(gitPorts(storage, noActors)),
    deployKeys: openDeployKeys(storage),
    traffic: null,
    dashboard: null,
    parse,
    diskOf: ({ id, disk_volume }) => disk_volume ?? `berth-${id}`,
    hasCertificate: () => false,
    certificateAuthority: () => ({ directory_url: null, ...noWildcard }),
    doctor: async () => ({ checked_at: new Date().toISOString(), findings: [] }),
    whileDiskHasRoom: (_, work) => work(new AbortController().signal),
  }
}

/** Terminal logins and git connections run as in the daemon. */
function withRealActors(t: TestContext, storage: Storage, { actors, terminalLogins }: HttpContext) {
  const catalogue = { alert, 'git-connection': gitConnection, 'terminal-login': terminalLogin }
  const supervisor = new Supervisor({ storage, catalogue, logger: silentLogger })
  const ports = gitPorts(storage, supervisor)
  supervisor.provide({
    alert: alertEffects({ notify: async () => undefined }),
    'git-connection': gitConnectionEffects(ports),
    'terminal-login': terminalLoginEffects({ storage, terminalLogins }),
  })
  t.after(() => supervisor.stop(1000))
  const portFor = (isReal: boolean) => (isReal ? supervisor : actors)
  const isReal = (id: string) => /^(alr|cli|git)-/.test(id)
  const port: ActorPort = {
    suspects: actors.suspects,
    spawn: (kind, id, ...rest) => portFor(isReal(id)).spawn(kind, id, ...rest),
    preview: actors.preview,
    send: (id, ...rest) => portFor(isReal(id)).send(id, ...rest),
    retry: (id, ...rest) => portFor(isReal(id)).retry(id, ...rest),
    discard: (id, ...rest) => portFor(isReal(id)).discard(id, ...rest),
    inspect: (viewer) => supervisor.inspect(viewer),
  }
  return { actors: port, git: openGitAccounts(ports) }
}

const noActors = { send: async () => ({ applied: false }), spawn: async () => undefined }

function gitPorts(storage: Storage, actors: GitConnectionPorts['actors']) {
  const settings = { gitHosts: testHostRules, localRepositories: [] }
  return { storage, actors, settings, logger: silentLogger, identity: { url: null } }
}

function createActors(storage: Storage): ActorPort {
  const nothing = async () => {
    throw new Error('nothing runs here')
  }
  const port = {
    suspects: () => [],
    retry: nothing,
    inspect: () => () => undefined,
    discard: nothing,
    preview: (_kind: string, _id: string, input: object, { by }: { by: By }) => queuedRecord(input, by),
    async spawn(kind: string, id: string, input: object, { eventId, also, by }: SpawnOptions = {}) {
      const known = storage.actors.record(id)
      if (known) return { record: known, duplicate: true }
      const record = kind === 'deploy' ? queuedRecord(input, by) : recordOfRemoval(kind, id, input)
      const serviceId = (input as { serviceId: string }).serviceId
      await storage.actors.create(transition(kind, record, serviceId, 1, eventId ?? null), also)
      if (kind === 'service-removal') await storage.services.update(id, (row) => ({ ...row, deleting: true }))
      return { record, duplicate: false }
    },
    async send(id: string, event: AnyEventObject, { eventId }: EventOptions = {}) {
      const record = storage.actors.record(id) as Deploy
      const applied = record.status === 'queued' || record.status === 'running'
      if (!applied) return { applied, record }
      const error = `canceled by ${event.by}`
      const fields = { status: 'canceled' as const, error, finished_at: event.at }
      const canceled = await setDeploy(storage, id, fields, eventId)
      return { applied, record: canceled }
    },
  }
  return port as ActorPort
}

async function setDeploy(
  storage: Storage,
  id: string,
  fields: Partial<Deploy>,
  eventId?: string,
): Promise<Deploy> {
  const revision = storage.actors.get(id)!.revision + 1
  const record = { ...(storage.actors.record(id) as Deploy), ...fields, revision }
  const next = transition('deploy', record, record.service_id, revision, eventId ?? null)
  const live = fields.status === 'live' ? { live_deploy_id: id, desired_deploy_id: id } : null
  await storage.actors.advance({ ...next, service: live })
  return record
}

function transition(
  kind: string,
  record: ActorRecord,
  serviceId: string,
  revision: number,
  event: string | null,
) {
  const row = {
    id: record.id,
    kind,
    service_id: serviceId,
    version: 1,
    revision,
    snapshot: {},
    restarts: 0,
    by: record.by as By | null,
  }
  const at = new Date().toISOString()
  const by = revision === 1 ? row.by : null
  const phase = typeof record.phase === 'string' ? record.phase : null
  const entry = { at, event: 'test', state: record.status, status: record.status, phase, by }
  return { row: { ...row, final: false, parked: null }, record, entry, service: null, event }
}

async function call(url: string, method: string, path: string, requested: RequestOptions): Promise<Answer> {
  const { body, headers = {}, token: secret = token } = requested
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = text !== '' && response.headers.get('content-type')?.includes('json')
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} }
}

/** The head of a request, to be sent verbatim. */
export function head(first: string, ...lines: string[]): string {
  return [`${first} HTTP/1.1`, ...lines, '', ''].join('\r\n')
}

function queuedRecord(input: object, by: By | null = null) {
  return { ...deploy.toRecord(getInitialSnapshot(deploy.machine, input as DeployInput)), revision: 1, by }
}

function recordOfRemoval(kind: string, id: string, input: object): ActorRecord {
  if (kind !== 'service-removal') return { id, status: 'deleting' }
  const snapshot = getInitialSnapshot(serviceRemoval.machine, input as serviceRemoval.ServiceRemovalInput)
  return serviceRemoval.toRecord(snapshot)
}

/** Returns what arrives until the server closes the connection or falls silent. */
export function raw(port: number, text: string): Promise<{ text: string; isClosed: boolean }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    const finish = (isClosed: boolean) => {
      socket.destroy()
      resolve({ text: received, isClosed })
    }
    // Before the first byte the server may just be slow.
    socket.setTimeout(30_000, () => finish(false))
    socket.on('data', (chunk) => {
      received += chunk
      socket.setTimeout(500)
    })
    socket.on('error', () => finish(true))
    socket.on('close', () => finish(true))
    socket.write(text)
  })
}
