// Checks after a run: where secrets may have leaked, then which objects have no owner.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Docker from 'dockerode'
import { openStore } from '../../storage/store/store.ts'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { until } from '../support/daemon/service.ts'
import { ensureEngine } from '../support/docker/engine.ts'
import type { World } from './world.ts'

/** Waits until no deploy is active. */
export async function settle({ daemon: { api } }: World): Promise<void> {
  await until('the deploys to end', async () => {
    const services = (await api.get('/services')) as { state: string }[]
    return services.every(({ state }) => state !== 'deploying' && state !== 'deleting')
  })
}

/**
 * Where a secret leaked outside of responses: the log, the data directory, Docker's records
 * of Berth's objects.
 */
export async function findLeaks({ daemon, secrets, feed }: World): Promise<string[]> {
  const { dataDir, prefix } = daemon
  const views = (texts: readonly string[]) => texts.filter((text) => secrets.findIn(text) !== null)
  const lines = views(daemon.log).map((line) => `log: ${line}`)
  const changes = views(feed).map((event) => `change feed: ${event}`)
  const files = secrets
    .filesBelow(dataDir)
    .filter((found) => found !== `the token: ${join(dataDir, 'api_token')}`)
  const objects = views(await describeObjects(prefix)).map((text) => `docker: ${text}`)
  return [...lines, ...changes, ...files, ...objects]
}

/** The command lines of all processes of this machine that contain a secret. */
export function findShownArguments({ secrets }: World): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map((pid) => commandLine(pid)).filter((line) => secrets.findIn(line) !== null)
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** Docker's data about all objects with the prefix, except the environment of containers. */
async function describeObjects(prefix: string): Promise<string[]> {
  const docker = new Docker({ socketPath: new URL(await ensureEngine()).pathname })
  const { containers, images, volumes, networks } = await findLeftovers(prefix)
  const gone = () => null
  const found = await Promise.all([
    ...containers.map((name) => docker.getContainer(name).inspect().then(withoutEnv, gone)),
    ...images.map((name) => docker.getImage(name).inspect().catch(gone)),
    ...images.map((name) => docker.getImage(name).history().catch(gone)),
    ...volumes.map((name) => docker.getVolume(name).inspect().catch(gone)),
    ...networks.map((name) => docker.getNetwork(name).inspect().catch(gone)),
  ])
  return found.map((one) => JSON.stringify(one))
}

function withoutEnv(container: { Config: { Env: string[] } }): object {
  return { ...container, Config: { ...container.Config, Env: [] } }
}

/** Deletes all services and datastores, and waits until Docker has only the retained disks. */
export async function removeServices({ daemon, keptDisks }: World): Promise<string[]> {
  const { api, prefix } = daemon
  for (const { host } of await api.get('/registries')) await api.call('DELETE', `/registries/${host}`)
  for (const { id } of await api.get('/git/connections'))
    await api.call('DELETE', `/git/connections/${id}?force=true`)
  for (const { id } of await api.get('/services')) {
    await api.call('DELETE', `/services/${id}?force=true&delete_disk=true&purge=true`)
  }
  for (const { id } of await api.get('/datastores'))
    await api.call('DELETE', `/datastores/${id}?force=true&purge=true`)
  await until('all services to be gone', async () => (await api.get('/services')).length === 0)
  await until('all datastores to be gone', async () => (await api.get('/datastores')).length === 0)
  for (const { id } of await api.get('/trash')) await api.call('DELETE', `/trash/${id}`)
  await until('the trash to be empty', async () => (await api.get('/trash')).length === 0)
  const { containers, images, volumes } = await findLeftovers(prefix)
  const lost = volumes.filter((name) => !keptDisks.has(name.slice(prefix.length + 1)))
  return [...containers, ...images, ...lost]
}

/** A login exists until it expires, an alert until it is calm, a backup of the server until it is deleted. */
const kinds = ['alert', 'server-backup', 'terminal-login']
const outlivesServices = (key: unknown) => Array.isArray(key) && kinds.includes(key[0])

/** Tables that must be empty after the run; the others belong to the server. */
const emptyTables = [
  'services',
  'names',
  'datastores',
  'datastore_passwords',
  'datastore_ports',
  'env',
  'credentials',
  'registries',
  'releases',
  'addresses',
  'active',
]

/** What remains in the data directory after the services are deleted and the daemon has stopped. */
export async function findOrphans(dataDir: string): Promise<string[]> {
  const store = openStore(dataDir, { onPanic: () => undefined })
  try {
    const rows = emptyTables.flatMap((name) =>
      [...store.table(name).keys()]
        .filter((key) => !outlivesServices(key))
        .map((key) => `${name}: ${JSON.stringify(key)}`),
    )
    const folders = ['work', 'archives', 'logs', 'runtime-logs', 'access-logs'].flatMap((name) =>
      entriesOf(join(dataDir, name)),
    )
    return [...rows, ...folders]
  } finally {
    await store.close()
  }
}

function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory).map((name) => join(directory, name))
  } catch {
    return []
  }
}
