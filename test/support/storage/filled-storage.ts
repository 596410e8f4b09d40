// A data directory with a row in every table, a file of every kind, and an actor of every
// kind in every state.
// Later versions must be able to open what an earlier one wrote.
import type { KindName } from '../../../machines/index.ts'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import { issueTestCertificate } from '../edge/test-certificate.ts'
import { instant as at } from '../supervisor/supervision.ts'
import { endedActors, type RestingActor, restingActors } from './parked-kinds.ts'
import { serviceRow } from './store-fixtures.ts'

const later = '2099-01-01T00:00:00.000Z'
const authority = { directoryUrl: 'https://ca.example.com', email: 'admin@example.com' }

const services: ServiceRow[] = [
  serviceRow({ custom_domains: ['shop.example.com'], live_deploy_id: 'dep-live', branch_learnt: true }),
  serviceRow({ id: 'svc-2', name: 'api', type: 'private_service', image: 'debian:12', suspended: true }),
  serviceRow({ id: 'svc-3', name: 'mail', type: 'background_worker', disk_mount_path: '/data' }),
  serviceRow({ id: 'svc-4', name: 'nightly', type: 'cron_job', schedule: '0 3 * * *', timezone: 'UTC' }),
  serviceRow({ id: 'svc-5', name: 'docs', type: 'static_site', publish_dir: 'public', degraded: true }),
  serviceRow({ id: 'svc-6', name: 'old', deleting: true, archive_deploy_id: 'dep-failed' }),
]

/** The only actor of its kind, known by this id. */
const idOf = (kind: KindName, state: string) =>
  kind === 'edge' && state === 'serving' ? 'edge' : `${kind}-${state.replace(/[^a-z]+/g, '-')}`

export async function fillStorage(storage: Storage): Promise<void> {
  await fillAccess(storage)
  await fillServices(storage)
  await fillDatastores(storage)
  await fillActors(storage)
  await fillDeploys(storage)
  await fillCertificates(storage)
  await fillLogs(storage)
}

async function fillAccess(storage: Storage): Promise<void> {
  const { account, attempts, registries, sessions, tokens } = storage
  const administrator = {
    id: 'usr-1',
    email: 'admin@example.com',
    password_hash: '$argon2id$v=19$x',
    created_at: at,
  }
  const token = { name: 'ci', role: 'deploy' as const, services: ['svc-1'], hint: 'abcd', expires_at: later }
  const used = { created_at: at, last_used_at: at }
  await storage.commit((commit) => {
    account.create(commit, administrator)
    sessions.insert(commit, 'session secret', { id: 'ses-1', user_agent: null, ...used })
    tokens.insert(commit, 'token secret', { id: 'tok-1', ...token, ...used })
    tokens.insert(commit, 'terminal secret', {
      id: 'tok-2',
      ...token,
      services: null,
      terminal: true,
      ...used,
    })
  })
  await attempts.record(attempts.create('sign_in', Date.parse(at)), () => false)
  await registries.put('registry.example.com', { username: 'me', password: 'registry secret' }, at)
}

async function fillServices(storage: Storage): Promise<void> {
  const { buildCaches, credentials, env, upstreams } = storage
  const event = { id: 'request-1', answer: { id: 'svc-1' } }
  for (const row of services) await storage.services.create(row, row.id === 'svc-1' ? { event } : {})
  const pair = { username: 'me', password: 'repository secret', origin: 'https://example.com' }
  await storage.commit(() => credentials.put('svc-1', pair))
  await env.replace('svc-1', () => [{ key: 'SECRET', value: 'env secret' }])
  await buildCaches.renew('svc-1')
  await upstreams.allocatePool('svc-1')
  const upstream = { deploy_id: 'dep-live', index: 0, address: '10.0.0.2', port: 8080, run: at }
  await upstreams.put('svc-1', { ...upstream, state: 'ready' })
  await upstreams.put('svc-1', { ...upstream, deploy_id: 'dep-old', run: null, state: 'out' })
  await storage.addresses.allocate('dep-live', 0, { first: '10.0.0.2', last: '10.0.0.9' })
}

async function fillDatastores({ commit, datastores }: Storage): Promise<void> {
  await commit(() => {
    datastores.insert('dst-1', 'shop-db', 'first datastore secret', true)
    datastores.insert('dst-2', 'shop-cache', 'second datastore secret')
  })
  await datastores.movePort('dst-1', [25_001])
  await datastores.trash('dst-2')
}

/** One actor is parked, and each has a second history entry. */
async function fillActors({ actors }: Storage): Promise<void> {
  for (const one of everyActor()) {
    const { transition } = one
    const { entry, record, row } = transition
    const first = { ...row, revision: 1, final: false }
    await actors.create({ ...transition, row: first })
    const by = { kind: 'token', id: 'tok-1', name: 'ci' } as const
    const second = { ...row, revision: 2, by }
    const moved = { ...entry, event: 'moved', state: one.state, status: record.status, by }
    await actors.advance({ ...transition, row: second, record: { ...record, revision: 2, by }, entry: moved })
  }
  await actors.park('backup-running-dumping', 'a bug', at)
}

export function everyActor(): RestingActor[] {
  return [...restingActors(idOf), ...endedActors(idOf)]
}

async function fillDeploys(storage: Storage): Promise<void> {
  const { id, name, ...settings } = services[0]!
  const env = [{ key: 'SECRET', value: 'released secret' }]
  await storage.releases.freeze('deploy-live', () => ({ settings, env, resolved: null }))
  await storage.releases.resolve('deploy-live', env)
  for (const archives of [storage.archives, storage.restoreFiles]) {
    const draft = archives.create()
    await draft.write([Buffer.from('a file')])
    await draft.commit(archives === storage.archives ? 'deploy-failed' : 'restore-failed')
  }
}

async function fillCertificates({ certificates }: Storage): Promise<void> {
  const validity = { notBefore: new Date(at), notAfter: new Date(later) }
  const { chainPem, keyPem } = await issueTestCertificate(['shop.example.com'], validity)
  certificates.put('shop.example.com', `${keyPem}${chainPem}`)
  certificates.saveOrder('new.example.com', {
    ...authority,
    url: 'https://ca.example.com/order/1',
    keyPem,
    at,
  })
  certificates.saveTxtRecord({ name: '_acme-challenge.example.com', value: 'proof' })
  certificates.saveAccountKey(authority, { kty: 'EC' })
}

async function fillLogs({ accessLogs, logs, runtimeLogs }: Storage): Promise<void> {
  logs.append('deploy-failed', 'stdout', 'a line of a build', at)
  logs.append('deploy-failed', 'system', 'a line of the server', at)
  await logs.end('deploy-failed')
  runtimeLogs.append('svc-1', 'stderr', 'a line of an instance', new Date().toISOString(), { instance: 0 })
  await runtimeLogs.writeNote('svc-1', 'a note')
  accessLogs.append('svc-1', 'access', 'GET / 200', new Date().toISOString(), { status: 200 })
}
