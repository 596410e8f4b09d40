// The desired container of a datastore, and its translation to Docker's options. Pure. The limits are not
// part of the spec hash: they change in place, and the container keeps running.
import { createHash } from 'node:crypto'
import type { ContainerCreateOptions } from 'dockerode'
import { datastoreKind, datastoreName, labels, type Owner, ownerLabels } from '../engine/names.ts'
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
