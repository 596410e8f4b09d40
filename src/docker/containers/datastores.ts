// The containers of datastores, as idempotent verbs. What they share with instances (looking, stopping,
// removing) goes by their name through `Instances`.

import { messageOf } from '../../errors.ts'
import { acceptStatus, type Engine, orNull } from '../engine/client.ts'
import type { Owner } from '../engine/names.ts'
import { type Command, type Outcome, runInside } from '../exec/exec.ts'
import { type InteractiveExec, type InteractiveOptions, openInteractive } from '../exec/interactive-exec.ts'
import { type DatastoreSpec, wantedDatastore } from './datastore-spec.ts'
import { ensureContainer } from './ensure-container.ts'
import { findOwnOrRefuse } from './find-container.ts'
import type { InstanceState } from './instance-state.ts'
import { type Limits, limits } from './spec.ts'

export type { Outcome } from '../exec/exec.ts'
export type { InteractiveExec, InteractiveOptions, TerminalSize } from '../exec/interactive-exec.ts'
export type { DatastoreSpec } from './datastore-spec.ts'

export interface Datastores {
  /** Ensures that it exists and runs: adopts a container with the same spec and replaces any other. */
  ensure(spec: DatastoreSpec, signal?: AbortSignal): Promise<InstanceState>
  /**
   * Changes the limits of the container in place, running or not; its processes keep running. False if there
   * is no container. Throws `docker_error` with the engine's message: the engine may refuse a limit below the
   * present usage.
   */
  limit(name: string, wanted: Limits): Promise<boolean>
  /** Takes a stopped container out of its networks: it then starts with its loopback only. */
  disconnect(name: string): Promise<void>
  run(name: string, command: Command, options?: RunOptions): Promise<Outcome>
  /** Runs an interactive command inside. */
  open(name: string, command: Command, options: InteractiveOptions): Promise<InteractiveExec>
}

export interface RunOptions {
  signal?: AbortSignal
  timeoutMs?: number
}

export function openDatastores(engine: Engine, owner: Owner): Datastores {
  const site = { engine, owner }
  return {
    ensure: (spec, signal) => ensureContainer(site, wantedDatastore(owner, spec), signal),
    async limit(name, wanted) {
      const container = await findOwnOrRefuse(site, name)
      if (!container) return false
      // Memory and swap are one change: on its own, either may contradict the other's present value.
      const change = limits(wanted, await engine.info())
      const update = engine.call(`limit ${name}`, (abortSignal) =>
        container.container.update({ ...change, abortSignal }),
      )
      return (await unlessGoing(update)) !== null
    },
    async disconnect(name) {
      const container = await findOwnOrRefuse(site, name)
      const networks = Object.keys(container?.info.NetworkSettings.Networks ?? {})
      for (const network of networks) {
        const leave = engine.call(`disconnect ${name}`, (abortSignal) =>
          engine.docker.getNetwork(network).disconnect({ Container: name, Force: true, abortSignal }),
        )
        await acceptStatus(404, leave)
      }
    },
    run: (name, command, options) => runInside(site, name, command, options),
    open: (name, command, options) => openInteractive(site, name, command, options),
  }
}

/** null for a container that was removed since it was found, or is about to be. */
async function unlessGoing<T>(update: Promise<T>): Promise<T | null> {
  try {
    return await orNull(update)
  } catch (error) {
    if (/marked for removal/.test(messageOf(error))) return null
    throw error
  }
}
