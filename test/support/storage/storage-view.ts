// Everything that a storage can return, as plain JSON.
import { readFileSync } from 'node:fs'
import type { Storage } from '../../../storage/index.ts'

export interface StorageView {
  actors: {
    shown: { id: string; row: { kind: string }; record: { status: string } }[]
    active: string[]
    parked: { id: string }[]
  }
  [part: string]: unknown
}

const authority = { directoryUrl: 'https://ca.example.com', email: 'admin@example.com' }

/** The view of the actors with these ids and of everything else, with decrypted secrets. */
export async function readView(storage: Storage, actorIds: string[]): Promise<StorageView> {
  const view = {
    server: serverOf(storage),
    access: accessOf(storage),
    certificates: certificatesOf(storage),
    services: servicesOf(storage),
    datastores: datastoresOf(storage),
    actors: actorsOf(storage, actorIds),
    files: await listFiles(storage),
  }
  return JSON.parse(JSON.stringify(view))
}

function serverOf({ predecessors, serverId, serverToken }: Storage) {
  return { id: serverId, token: serverToken, predecessors: predecessors() }
}

function accessOf({ account, attempts, registries, sessions, tokens }: Storage) {
  return {
    account: account.get(),
    attempts: attempts.list('sign_in'),
    registries: registries.list(),
    sessions: sessions.list(),
    tokens: tokens.list(),
    found: [sessions.bySecret('session secret')?.id, tokens.bySecret('token secret')?.id],
  }
}

function servicesOf(storage: Storage) {
  return {
    list: storage.services.list(),
    env: storage.env.get('svc-1'),
    credentials: storage.credentials.get('svc-1'),
    domain: storage.services.holderOf('shop.example.com'),
    upstreams: [storage.upstreams.poolOf('svc-1'), storage.upstreams.list('svc-1')],
    addresses: storage.addresses.list(),
    event: storage.events.get('request-1'),
    releases: storage.releases.ids().map((id) => storage.releases.get(id)),
  }
}

function datastoresOf({ datastores }: Storage) {
  const list = datastores.listAll()
  const passwords = list.map(({ id }) => datastores.password(id))
  return { list, passwords, names: ['shop-db', 'shop-cache'].map((name) => datastores.idOf(name)) }
}

function actorsOf({ actors }: Storage, ids: string[]) {
  const shown = ids.map((id) => {
    const { snapshot, ...row } = actors.get(id) ?? { snapshot: null }
    return { id, row, record: actors.record(id), history: actors.history(id) }
  })
  return { shown, active: [...actors.active()].map(({ id }) => id).sort(), parked: [...actors.parked()] }
}

function certificatesOf({ certificates }: Storage) {
  return {
    list: certificates.list().map(({ path, ...certificate }) => certificate),
    order: certificates.order('new.example.com'),
    records: certificates.txtRecords(),
    key: certificates.accountKey(authority),
  }
}

async function listFiles({ archives, buildCaches, logs, restoreFiles, runtimeLogs }: Storage) {
  const contentOf = (path: string) => readFileSync(path, 'utf8')
  return {
    archives: (await archives.ids()).map((id) => [id, contentOf(archives.path(id))]),
    restores: (await restoreFiles.ids()).map((id) => [id, contentOf(restoreFiles.path(id))]),
    buildCache: await buildCaches.namespaceOf('svc-1'),
    log: [await logs.tail('deploy-failed', 10), logs.isEnded('deploy-failed')],
    note: await runtimeLogs.readNote('svc-1'),
  }
}
