// The containers of datastores, as idempotent verbs. What they share with instances (looking, stopping,
// removing) goes by their name through `Instances`.

import { createHash } from 'node:crypto'
import type { ContainerCreateOptions } from 'dockerode'
import { messageOf } from '../../errors.ts'
import { acceptStatus, type Engine, orNull } from '../engine/client.ts'
import { datastoreKind, datastoreName, labels, type Owner, ownerLabels } from '../engine/names.ts'
import { type Command, type Outcome, runInside } from '../exec/exec.ts'
import { type InteractiveExec, type InteractiveOptions, openInteractive } from '../exec/interactive-exec.ts'
import { ensureContainer } from './ensure-container.ts'
import { findOwnOrRefuse } from './find-container.ts'
import type { InstanceState } from './instance-state.ts'
import {
  confinement,
  type HostTraits,
  type Limits,
  limits,
  logging,
  type RestartPolicy,
  toMount,
  type WantedContainer,
} from './spec.ts'

export type { Outcome } from '../exec/exec.ts'
export type { InteractiveExec, InteractiveOptions, TerminalSize } from '../exec/interactive-exec.ts'

export interface Datastores {
  /** Ensures that it exists and runs: adopts a container with the same spec and replaces any other. */
  ensure(spec: DatastoreSpec, signal?: AbortSignal): Promise<InstanceState>
  /** False if there is no container. Throws `docker_error`: the engine may refuse a limit below the usage. */
  limit(name: string, wanted: Limits): Promise<boolean>
  /** Takes a stopped container out of its networks: it then starts with its loopback only. */
  disconnect(name: string): Promise<void>
  run(name: string, command: Command, options?: RunOptions): Promise<Outcome>
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

export interface DatastoreSpec extends Limits {
  id: string
  /** The datastore's, which is also its host name in the network. */
  name: string
  /** The name of its Docker volume, which changes only together with the image. */
  volume: string
  image: string
  network: string
  /** A fixed IPv4 address inside `network`. */
  address: string
  /** The only place for secrets in a container. */
  env: Record<string, string>
  /** A script that `sh -c` runs instead of what the image would run; null for the image's own. */
  script: string | null
  mountPath: string
  port: { inside: number; host: number; bind: string }
  restart: RestartPolicy
}

/** Shared memory counts toward the container's memory limit, so this size must not add a lower limit. */
const sharedMemoryBytes = 1024 ** 3
/** For the kernel (-1000 to 1000): without free memory it kills builds (1000) and instances (300) first. */
const oomScore = 100
/** How long Docker waits for the container to exit when Docker stops it on its own. */
const stopSeconds = 60

export function wantedDatastore(owner: Owner, spec: DatastoreSpec): WantedContainer {
  const name = datastoreName(owner, spec.name)
  return {
    name,
    restart: spec.restart,
    runsOnce: false,
    hash: hashOf(spec),
    options: (host) => datastoreOptions(owner, spec, host),
  }
}

function datastoreOptions(owner: Owner, spec: DatastoreSpec, host: HostTraits): ContainerCreateOptions {
  const name = datastoreName(owner, spec.name)
  const inside = `${spec.port.inside}/tcp`
  return {
    name,
    Image: spec.image,
    Env: Object.entries(spec.env).map(([key, value]) => `${key}=${value}`),
    Labels: {
      ...ownerLabels(owner),
      [labels.kind]: datastoreKind,
      [labels.id]: spec.id,
      [labels.service]: spec.name,
      [labels.spec]: hashOf(spec),
    },
    ...(spec.script === null ? {} : { Entrypoint: ['sh', '-c'], Cmd: [spec.script] }),
    ExposedPorts: { [inside]: {} },
    StopTimeout: stopSeconds,
    HostConfig: {
      NetworkMode: spec.network,
      RestartPolicy: { Name: spec.restart },
      ...confinement,
      Mounts: [toMount({ name: spec.volume, mountPath: spec.mountPath })],
      PortBindings: { [inside]: [{ HostIp: spec.port.bind, HostPort: String(spec.port.host) }] },
      ShmSize: sharedMemoryBytes,
      OomScoreAdj: oomScore,
      ...limits(spec, host),
      ...logging(host),
    },
    NetworkingConfig: {
      EndpointsConfig: {
        [spec.network]: { IPAMConfig: { IPv4Address: spec.address }, Aliases: [spec.name] },
      },
    },
  }
}

function hashOf({ id, name, image, network, address, env, script, mountPath, port }: DatastoreSpec): string {
  const request = [id, name, image, network, address, Object.entries(env), script, mountPath, port]
  return createHash('sha256').update(JSON.stringify(request)).digest('hex')
}
