// The API with real actors for datastores, backups and restores.
// Each effect of a backup or restore waits until the test completes it; datastores serve at once.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { catalogue as kinds } from '../../../machines/index.ts'
import type { Backup, Restore } from '../../../src/api/backup.ts'
import type { Datastore } from '../../../src/api/datastore.ts'
import { Failure } from '../../../src/errors.ts'
import { Supervisor } from '../../../src/supervisor/supervisor.ts'
import type { Body } from '../daemon/api.ts'
import { waits } from '../machines/machine-run.ts'
import { eventually, instant, silentLogger } from '../supervisor/supervision.ts'
import { startChecked } from './checked-api.ts'
import { token } from './http-context.ts'
import { checkAnswer } from './openapi.ts'

const { backup, datastore, restore } = kinds

type Effect = (input: { id: string }, signal: AbortSignal) => Promise<unknown>

export async function startBackups(t: TestContext) {
  let supervisor: Supervisor | null = null
  // Registered first, so that it runs before the store closes: the actors write to the store.
  t.after(() => supervisor?.stop(1000))
  const api = await startChecked(t)
  const held = createHeld()
  const world = { areServing: true }
  const catalogue = { backup, datastore, restore }
  supervisor = new Supervisor({ storage: api.storage, catalogue, logger: silentLogger })
  supervisor.provide({
    datastore: datastoreEffects(world),
    backup: { ...all(backup, held.effect), pruneBackups: succeeds, removeBackup: succeeds },
    restore: all(restore, held.effect),
  })
  api.context.actors.spawn = supervisor.spawn.bind(supervisor)
  api.context.actors.send = supervisor.send.bind(supervisor)
  return { ...api, ...asks(api, held), world }
}

type Api = Awaited<ReturnType<typeof startChecked>>

/** Requests to the API, and the completion of effects. */
function asks(api: Api, held: ReturnType<typeof createHeld>) {
  const datastoreOf = async (name: string, kind = 'postgres') =>
    (await api.call('POST', '/datastores', { kind, name })).body as Datastore
  const begun = async (name: string) =>
    (await api.call('POST', `/datastores/${name}/backups`)).body as unknown as Backup
  const found = async <T>(path: string) => (await api.call('GET', path)).body as unknown as T

  /** Completes the current phase. */
  async function goOn(id: string, output: object = {}): Promise<void> {
    await held.end(id, ({ resolve }) => resolve({ at: instant, ...output }))
  }

  return {
    goOn,
    datastoreOf,
    begun,
    backup: (id: string) => found<Backup>(`/backups/${id}`),
    restore: (id: string) => found<Restore>(`/restores/${id}`),
    /** Creates a completed backup with this content in its file. */
    async kept(name: string, content: Uint8Array | string = 'PGDMP and more'): Promise<Backup> {
      const { id, file } = await begun(name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, content)
      await goOn(id, { sizeBytes: Buffer.byteLength(content), sha256: 'ab' })
      await goOn(id)
      await eventually(`${id} is good`, () => api.storage.actors.record(id)?.status === 'good')
      return found(`/backups/${id}`)
    },
    /** Fails the backup, including its cleanup phase. */
    async fails(id: string, message: string): Promise<void> {
      await held.end(id, ({ reject }) => reject(new Failure('backup_failed', message)))
      await goOn(id)
      await eventually(`${id} has failed`, () => api.storage.actors.record(id)?.status === 'failed')
    },
    reached: (id: string, phase: string | null) =>
      eventually(`${id} is ${phase}`, () => api.storage.actors.record(id)?.phase === phase),
    upload: async (name: string, body: RequestInit['body'], headers: Record<string, string> = {}) =>
      upload(api.url, name, body, headers),
  }
}

export type BackupApi = Awaited<ReturnType<typeof startBackups>>

const succeeds: Effect = async () => ({ at: instant })

function all({ machine }: { machine: { implementations: { actors: object } } }, effect: Effect) {
  return Object.fromEntries(Object.keys(machine.implementations.actors).map((slot) => [slot, effect]))
}

function datastoreEffects(world: { areServing: boolean }) {
  const start: Effect = async () => {
    if (!world.areServing) throw new Failure('datastore_failed', 'no space left')
    return { at: instant, hostPort: 25_001, notice: null }
  }
  return {
    ...all(datastore, succeeds),
    startDatastore: start,
    keepDatastore: waits,
    awaitRetry: waits,
    awaitBackupTime: waits,
    applyLimits: async () => ({ at: instant, notice: null }),
  }
}

interface Waiting {
  resolve(output: object): void
  reject(error: Error): void
}

/** Pending effects, by the id of their actor. */
function createHeld() {
  const waiting = new Map<string, Waiting>()
  const effect: Effect = ({ id }, signal) =>
    new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject })
      signal.addEventListener('abort', () => {
        waiting.delete(id)
        reject(signal.reason)
      })
    })
  return {
    effect,
    async end(id: string, act: (one: Waiting) => void): Promise<void> {
      const one = await eventually(`an effect of ${id} began`, () => waiting.get(id))
      waiting.delete(id)
      act(one)
    },
  }
}

async function upload(
  url: string,
  name: string,
  body: RequestInit['body'],
  headers: Record<string, string>,
): Promise<{ status: number; body: Body }> {
  const path = `/api/v1/datastores/${name}/restores/upload`
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream', ...headers },
    body,
    ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
  } as RequestInit)
  const answer: Body = await response.json()
  checkAnswer('POST', path, response.status, answer)
  return { status: response.status, body: answer }
}

export async function startRestores(t: TestContext) {
  const api = await startBackups(t)
  const { id: datastoreId } = await api.datastoreOf('shop-db')
  const { call, storage, goOn } = api
  const folder = join(storage.directory, 'restores')
  return {
    ...api,
    datastoreId,
    /** Uploaded files that still exist, including drafts. */
    files: () => readdirSync(folder),
    pathOf: (id: string) => join(folder, `${id}.file`),
    begin: (backupId: string, name = 'shop-db', headers = {}) =>
      call('POST', `/datastores/${name}/restores`, { backup_id: backupId }, { headers }),
    list: async (name = 'shop-db') =>
      (await call('GET', `/datastores/${name}/restores`)).body as unknown as Restore[],
    /** Completes all phases. */
    async finish(id: string) {
      for (let phase = 0; phase < 4; phase++) await goOn(id)
      await eventually(`${id} is done`, () => storage.actors.record(id)?.status === 'done')
    },
  }
}
