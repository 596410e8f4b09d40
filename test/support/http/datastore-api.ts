// The API with datastores that run their real chart, without an engine. Effects succeed unless the
// test replaces them.
// Responses are checked against the OpenAPI document, as in checked-api.ts.
import type { TestContext } from 'node:test'
import { catalogue } from '../../../machines/index.ts'
import type { Datastore } from '../../../src/api/datastore.ts'
import { Supervisor } from '../../../src/supervisor/supervisor.ts'
import { type TestEffect, waits } from '../machines/machine-run.ts'
import { silentLogger } from '../supervisor/supervision.ts'
import { joinActors, startChecked } from './checked-api.ts'
import type { Answer, RequestOptions } from './http-context.ts'

export const hostPort = 25_001
const at = () => new Date().toISOString()
const succeeds: TestEffect = async () => ({ at: at() })

/** An effect that fails like those of the daemon. */
export const fails =
  (code: string, message: string): TestEffect =>
  () =>
    Promise.reject(Object.assign(new Error(message), { code }))

export async function startDatastores(t: TestContext, effects: Record<string, TestEffect> = {}) {
  let supervisor: Supervisor | null = null
  // Registered first, so that it runs before the store closes: the actors write to the store.
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
      checkUpgrade: waits,
      copyData: waits,
      undoUpgrade: succeeds,
      switchVolume: succeeds,
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
  joinActors(api.context, supervisor, 'datastore', 'dst-')
  const make = async (body: object, requested: RequestOptions = {}): Promise<Readable> =>
    datastoreOf(await api.call('POST', '/datastores', { kind: 'postgres', ...body }, requested))
  return { ...api, make, supervisor }
}

/** A datastore as an admin sees it. */
type Readable = Datastore & { password: string }

export const datastoreOf = ({ body }: Answer) => body as unknown as Readable
