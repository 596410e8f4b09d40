// Free host ports for datastores, found by trying to listen. Another process may take the port before the
// container does, so the result of starting the container decides.
import { createServer } from 'node:net'
import { Failure } from '../../errors.ts'
import type { DatastorePorts, DatastoreSettings } from './ports.ts'

type PortSettings = Pick<DatastoreSettings, 'datastoreBind' | 'datastorePorts'>

export const maxPortAttempts = 8

/** A free port, assigned to no datastore and not refused by Docker. Throws `port_taken` if none is left. */
export async function choosePort(
  { settings, storage: { datastores } }: Pick<DatastorePorts, 'storage'> & { settings: PortSettings },
  id: string,
  refused: ReadonlySet<number>,
): Promise<number> {
  const others = datastores.list().filter((datastore) => datastore.id !== id && datastore.port !== null)
  const taken = new Set([...refused, ...others.map(({ port }) => port!)])
  const candidates = await freePorts(settings.datastoreBind, settings.datastorePorts, maxPortAttempts, taken)
  const port = await datastores.movePort(id, candidates)
  if (port === null) throw noPort(settings)
  return port
}

export function noPort({ datastoreBind, datastorePorts: { first, last } }: PortSettings): Failure {
  const range = first === last ? `port ${first}` : `every port from ${first} to ${last}`
  return new Failure('port_taken', `${range} of ${datastoreBind} is in use (--datastore-ports)`)
}

/** Up to `count` ports of the range that are free now, from a random position on. */
export async function freePorts(
  bind: string,
  { first, last }: PortSettings['datastorePorts'],
  count: number,
  taken: ReadonlySet<number>,
): Promise<number[]> {
  const size = last - first + 1
  const start = Math.floor(Math.random() * size)
  const free: number[] = []
  for (let step = 0; step < size && free.length < count; step++) {
    const port = first + ((start + step) % size)
    if (!taken.has(port) && (await isFree(bind, port))) free.push(port)
  }
  return free
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}
