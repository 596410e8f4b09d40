// What Docker tells of the containers of a daemon's job runs: when each was made, started, signaled, removed.
// `create` and `destroy` bound the time that a container is there, `start` and `die` that it runs.
import type Docker from 'dockerode'
import { streamLines } from '../../src/docker/engine/stream-lines.ts'
import type { Scope } from './directory.ts'
import { until } from './service.ts'

export interface ContainerEvent {
  action: string
  /** The run. */
  id: string
  containerId: string
  /** By the engine's clock, ms since 1970. */
  atMs: number
  /** Of a `kill`. */
  signal: string | null
}

export interface ContainerEvents {
  readonly all: ContainerEvent[]
  /** Of one run, in their order. */
  of(id: string): ContainerEvent[]
  until(action: string, id: string): Promise<ContainerEvent>
}

/** From now on, until the test ends. */
export async function watchContainers(t: Scope, docker: Docker, prefix: string): Promise<ContainerEvents> {
  const filters = { type: ['container' as const], label: [`berth.instance=${prefix}`, 'berth.kind=job'] }
  // A `since` that lies behind makes the engine send its headers, and us know that it listens.
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
