// Docker's events for the containers of a daemon's job runs.
// A container exists from `create` to `destroy` and runs from `start` to `die`.
import type Docker from 'dockerode'
import { streamLines } from '../../../src/docker/engine/stream-lines.ts'
import { until } from '../daemon/service.ts'
import type { Scope } from '../system/directory.ts'

export interface ContainerEvent {
  action: string
  /** The id of the run. */
  id: string
  containerId: string
  /** The engine's clock, in ms since 1970. */
  atMs: number
  /** The signal of a `kill`. */
  signal: string | null
}

export interface ContainerEvents {
  readonly all: ContainerEvent[]
  /** The events of one run, in order. */
  of(id: string): ContainerEvent[]
  until(action: string, id: string): Promise<ContainerEvent>
}

/** Records events until the test ends. */
export async function watchContainers(t: Scope, docker: Docker, prefix: string): Promise<ContainerEvents> {
  const filters = { type: ['container' as const], label: [`berth.instance=${prefix}`, 'berth.kind=job'] }
  // With a `since` in the past, the engine sends its response headers at once, so we know that it listens.
  const stream = await docker.getEvents({ since: Math.floor(Date.now() / 1000) - 1, filters })
  const all: ContainerEvent[] = []
  t.after(() => (stream as NodeJS.ReadableStream & { destroy(): void }).destroy())
  void read(stream, all).catch(() => undefined)
  const of = (id: string) => all.filter((event) => event.id === id)
  return {
    all,
    of,
    until: (action, id) =>
      until(`${action} of ${id}`, async () => of(id).find((event) => event.action === action)),
  }
}

async function read(stream: NodeJS.ReadableStream, all: ContainerEvent[]): Promise<void> {
  for await (const line of streamLines(stream)) {
    const { Action, Actor, timeNano } = JSON.parse(line)
    const { Attributes: about, ID } = Actor
    const atMs = timeNano / 1e6
    all.push({ action: Action, id: about['berth.id'], containerId: ID, atMs, signal: about.signal ?? null })
  }
}
