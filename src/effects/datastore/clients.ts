// The clients that people open in the containers of datastores, for the API: so many at a time, and no more.
// Mind: who asks for one must close it, whatever became of it; until then it counts.
import type { InteractiveExec, InteractiveOptions, TerminalSize } from '../../docker/datastores.ts'
import { Failure } from '../../errors.ts'
import type { Host } from '../host.ts'
import { findDatastore } from './access.ts'

export interface Clients {
  /** Counts from now on; runs with `start`. Throws `unavailable` when as many are open as may be. */
  open(datastoreId: string): Client
}

export interface ClientStart {
  /** For the client itself. */
  words: readonly string[]
  terminal: InteractiveOptions['terminal']
}

export type ClientEvents = Pick<InteractiveOptions, 'wrote' | 'ended' | 'failed'>

export interface Client {
  /** Once. Resolves when it runs, or when `events` were told that it does not. */
  start(start: ClientStart, events: ClientEvents): Promise<void>
  /** What comes before it runs waits for it. */
  write(bytes: Buffer, taken: () => void): void
  end(): void
  resize(size: TerminalSize): void
  pause(): void
  resume(): void
  close(): void
}

const mostClients = 16

export function openClients(host: Host): Clients {
  const open = new Set<Client>()
  return {
    open(datastoreId) {
      if (open.size >= mostClients) {
        throw new Failure('unavailable', `${mostClients} clients of datastores are open already`, 'close one')
      }
      const client = createClient(host, datastoreId, () => open.delete(client))
      open.add(client)
      return client
    },
  }
}

type Order = (exec: InteractiveExec) => void

function createClient(host: Host, datastoreId: string, onClose: () => void): Client {
  let exec: InteractiveExec | null = null
  let isClosed = false
  const waiting: Order[] = []
  const tell = (order: Order) => {
    if (exec) order(exec)
    else waiting.push(order)
  }
  return {
    async start({ words, terminal }, events) {
      try {
        const { name, kind, credentials } = findDatastore(host, datastoreId)
        const started = await host.datastores.open(name, kind.client(credentials, words), {
          terminal,
          ...events,
        })
        if (isClosed) return started.close()
        exec = started
        for (const order of waiting.splice(0)) order(exec)
      } catch (error) {
        if (!isClosed) events.failed(error)
      }
    },
    write: (bytes, taken) => tell((started) => started.write(bytes, taken)),
    end: () => tell((started) => started.end()),
    resize: (size) => tell((started) => started.resize(size)),
    pause: () => tell((started) => started.pause()),
    resume: () => tell((started) => started.resume()),
    close() {
      isClosed = true
      exec?.close()
      onClose()
    },
  }
}
