// The API whose datastores run by their chart, in a world that a test makes: no engine, every effect succeeds
// unless the test says otherwise.
// The answers are held against the document, as in checked-api.ts.
import type { TestContext } from 'node:test'
import { catalogue } from '../../machines/index.ts'
import type { Datastore } from '../../src/api/datastore.ts'
import type { ActorPort, HttpContext } from '../../src/http/pipeline/context.ts'
import { Supervisor } from '../../src/supervisor/supervisor.ts'
import { startChecked } from './checked-api.ts'
import type { Answer, RequestOptions } from './http-context.ts'
import { forever, type TestEffect } from './machine-run.ts'
import { silentLogger } from './supervision.ts'

export const hostPort = 25_001
export const waits: TestEffect = (_, signal) => forever(signal)
const at = () => new Date().toISOString()
const succeeds: TestEffect = async () => ({ at: at() })

/** An effect that fails as those of the daemon do. */
export const fails =
  (code: string, message: string): TestEffect =>
  () =>
    Promise.reject(Object.assign(new Error(message), { code }))

/** The first time as one effect, from then on as the other. */
export function once(first: TestEffect, then: TestEffect): TestEffect {
  let isFirst = true
  return (input, signal) => {
    const effect = isFirst ? first : then
    isFirst = false
    return effect(input, signal)
  }
}

export async function startDatastores(t: TestContext, effects: Record<string, TestEffect> = {}) {
  let supervisor: Supervisor | null = null
  // Before the store is closed, which comes first otherwise: the actors write to it.
  t.after(() => supervisor?.stop(1000))
  const api = await startChecked(t)
  const { storage } = api
  const { datastore } = catalogue
  supervisor = new Supervisor({ storage, catalogue: { datastore }, logger: silentLogger })
  supervisor.provide({
    datastore: {
      obtainImage: succeeds,
      stopDatastore: succeeds,
      startDatastore: async () => ({ at: at(), hostPort, notice: null }),
      awaitAnswer: succeeds,
      keepDatastore: waits,
      applyLimits: async () => ({ at: at(), notice: null }),
      awaitRetry: waits,
      awaitBackupTime: waits,
      beginBackup: succeeds,
      saveDatastore: async () => ({ at: at(), isGood: true }),
      trashDatastore: async ({ id }: { id: string }) => {
        await storage.datastores.trash(id)
        return { at: at(), hasVolume: true, sizeBytes: 4096 }
      },
      awaitExpiry: waits,
      reclaimDatastore: async ({ id, name }: { id: string; name: string }) => {
        await storage.datastores.restoreFromTrash(id, name)
        return { at: at() }
      },
      removeDatastore: async ({ id }: { id: string }) => {
        await storage.datastores.remove(id)
        return { at: at() }
      },
      ...effects,
    },
  })
  joinActors(api.context, supervisor)
  const make = async (body: object, asked: RequestOptions = {}): Promise<Readable> =>
    datastoreOf(await api.call('POST', '/datastores', { kind: 'postgres', ...body }, asked))
  return { ...api, make, supervisor }
}

/** As an admin sees it. */
type Readable = Datastore & { password: string }

export const datastoreOf = ({ body }: Answer) => body as unknown as Readable

/** Datastores are the supervisor's, all others stay whose they are. */
function joinActors(context: HttpContext, supervisor: Supervisor): void {
  const { actors } = context
  const joined: ActorPort = {
    ...actors,
    spawn: (kind, ...rest) =>
      kind === 'datastore' ? supervisor.spawn(kind, ...rest) : actors.spawn(kind, ...rest),
    send: (id, ...rest) => (id.startsWith('dst-') ? supervisor : actors).send(id, ...rest),
    retry: (id, ...rest) => (id.startsWith('dst-') ? supervisor : actors).retry(id, ...rest),
    discard: (id, ...rest) => (id.startsWith('dst-') ? supervisor : actors).discard(id, ...rest),
  }
  context.actors = joined
}
