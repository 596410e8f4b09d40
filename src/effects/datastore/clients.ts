// Clients (psql, redis-cli) in the containers of datastores, for the API; their number is limited.
// An opened client counts until it is closed, even when its start failed.
import type { InteractiveExec, InteractiveOptions } from '../../docker/containers/datastores.ts'
import { Failure } from '../../errors.ts'
import { findDatastore } from './access.ts'
import type { DatastorePorts } from './kind.ts'

export interface Clients {
  /** Reserves a client immediately; `start` runs it. Throws `unavailable` at the limit. */
  open(datastoreId: string): Client
}

export interface ClientStart {
  args: readonly string[]
  terminal: InteractiveOptions['terminal']
}

export type ClientEvents = Pick<InteractiveOptions, 'wrote' | 'ended' | 'failed'>

/** What arrives before the client runs is queued. */
export interface Client extends InteractiveExec {
  /** Call once. Resolves when the client runs, or after `events.failed`. */
  start(start: ClientStart, events: ClientEvents): Promise<void>
}

const maxClients = 16

export function openClients(ports: Pick<DatastorePorts, 'datastores' | 'owner' | 'storage'>): Clients {
  const open = new Set<Client>()
  return {
    open(datastoreId) {
      if (open.size >= maxClients) {
        throw new Failure('unavailable', `${maxClients} datastore shells are already open`, 'close one')
      }
      const client = createClient(ports, datastoreId, () => open.delete(client))
      open.add(client)
      return client
    },
  }
}

function createClient(
  ports: Pick<DatastorePorts, 'datastores' | 'owner' | 'storage'>,
  datastoreId: string,
  onClose: () => void,
): Client {
  let exec: InteractiveExec | null = null
  let isClosed = false
  const pending: ((exec: InteractiveExec) => void)[] = []
  const whenStarted = (call: (exec: InteractiveExec) => void) => {
    if (exec) call(exec)
    else pending.push(call)
  }
  return {
    async start({ args, terminal }, events) {
      try {
        const { name, kind, credentials } = findDatastore(ports, datastoreId)
        const started = await ports.datastores.open(name, kind.client(credentials, args), {
          terminal,
          ...events,
        })
        if (isClosed) return started.close()
        exec = started
        for (const call of pending.splice(0)) call(exec)
      } catch (error) {
        if (!isClosed) events.failed(error)
      }
    },
    write: (bytes, taken) => whenStarted((started) => started.write(bytes, taken)),
    end: () => whenStarted((started) => started.end()),
    resize: (size) => whenStarted((started) => started.resize(size)),
    pause: () => whenStarted((started) => started.pause()),
    resume: () => whenStarted((started) => started.resume()),
    close() {
      isClosed = true
      exec?.close()
      onClose()
    },
  }
}
