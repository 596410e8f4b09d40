// Restores of the datastore `shop-db`: started, completed, and the files they used.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Restore } from '../../../src/api/backup.ts'
import { eventually } from '../supervisor/supervision.ts'
import { startBackups } from './backup-api.ts'

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
