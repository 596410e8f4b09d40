// The desired container of an instance, and its translation to Docker's options. Pure: the results can be
// compared without an engine.
import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import type { Duplex } from 'node:stream'
import type { ContainerCreateOptions, MountConfig } from 'dockerode'
import {
  type ContainerKind,
  formerContainerName,
  imageVolumeKind,
  instanceKind,
  labels,
  type Owner,
  ownerLabels,
  withoutMac,
} from '../engine/names.ts'
import type { Image } from '../images/images.ts'

export interface InstanceSpec {
  name: string
  image: string
  serviceId: string
  serviceName: string
  deployId: string
  index: number
  network: string
  /** A fixed IPv4 address inside `network`. */
  address: string
  env: { key: string; value: string }[]
  /** Run by `sh -c` instead of what the image would run; null for the image's own command. */
  command: string | null
  memoryLimitMb: number
  cpuLimit: number
  pidsLimit: number
  volume: { name: string; mountPath: string } | null
  restart: RestartPolicy
  /** False when its first process has to be process 1. */
  init?: boolean
  kind?: ContainerKind
  /** Gets the input of the command, which is connected before its start. */
  takeInput?: (stream: Duplex) => void
}

export type Limits = Pick<InstanceSpec, 'memoryLimitMb' | 'cpuLimit' | 'pidsLimit'>

export type RestartPolicy = 'no' | 'unless-stopped'

/** The properties reported by the host that a container's options must fit. */
export interface HostTraits {
  cpus: number
  loggingDriver: string
}

/** The properties of its image that a container's options must fit. */
export type ImageTraits = Pick<Image, 'hasInit' | 'volumePaths'>

export interface WantedContainer {
  name: string
  /** Kept as a label: another one means another request. */
  hash: string
  restart: RestartPolicy
  /** An ended container is never started again. */
  runsOnce: boolean
  inspectImage?: () => Promise<ImageTraits | null>
  takeInput?: InstanceSpec['takeInput']
  options(host: HostTraits, image?: ImageTraits): ContainerCreateOptions
}

// Scores are only raised: an engine without CAP_SYS_RESOURCE cannot lower a score.
/** Without free memory the kernel kills instances before datastores, the edge and the daemon. */
const oomScore = 300
const bytesPerMb = 1024 * 1024

export function wantedInstance(
  owner: Owner,
  spec: InstanceSpec,
  inspectImage: () => Promise<ImageTraits | null>,
): WantedContainer {
  const { name, restart, kind = instanceKind } = spec
  const runsOnce = kind !== instanceKind
  return {
    name,
    restart,
    runsOnce,
    hash: specHash(owner, spec),
    inspectImage,
    ...(spec.takeInput && { takeInput: spec.takeInput }),
    options: (host, image) => containerSpec(owner, spec, host, image),
  }
}

export function containerSpec(
  owner: Owner,
  spec: InstanceSpec,
  host: HostTraits,
  { hasInit, volumePaths }: ImageTraits = { hasInit: false, volumePaths: [] },
): ContainerCreateOptions {
  return {
    name: spec.name,
    Image: spec.image,
    Env: spec.env.map(({ key, value }) => `${key}=${value}`),
    Labels: instanceLabels(owner, spec),
    ...startCommand(spec.command),
    ...(spec.takeInput && { OpenStdin: true, StdinOnce: true, AttachStdin: true }),
    HostConfig: {
      NetworkMode: spec.network,
      RestartPolicy: { Name: spec.restart },
      ...confinement,
      Mounts: [...(spec.volume ? [toMount(spec.volume)] : []), ...imageVolumes(owner, spec, volumePaths)],
      OomScoreAdj: oomScore,
      ...limits(spec, host),
      ...logging(host),
      Init: (spec.init ?? true) && (spec.command !== null || !hasInit),
    },
    NetworkingConfig: {
      EndpointsConfig: {
        [spec.network]: { IPAMConfig: { IPv4Address: spec.address }, Aliases: aliasesOf(spec) },
      },
    },
  }
}

/** Covers the request, not its form in Docker's API: an upgrade of Berth must not replace containers. */
export function specHash(owner: Owner, spec: InstanceSpec): string {
  const request = [
    // Names without their MACs: the containers of a server that was upgraded have hashes from before.
    formerContainerName(owner, spec),
    withoutMac(spec.image),
    spec.serviceId,
    spec.serviceName,
    spec.deployId,
    spec.index,
    spec.network,
    spec.address,
    spec.command,
    spec.memoryLimitMb,
    spec.cpuLimit,
    spec.pidsLimit,
    spec.env.map(({ key, value }) => [key, value]),
    spec.volume && [spec.volume.name, spec.volume.mountPath],
  ]
  return createHash('sha256').update(JSON.stringify(request)).digest('hex')
}

/** A container that only runs a command must not be reachable by the name of the service. */
function aliasesOf({ kind = instanceKind, serviceName }: InstanceSpec): string[] {
  return kind === instanceKind ? [serviceName] : []
}

function instanceLabels(owner: Owner, spec: InstanceSpec): Record<string, string> {
  return {
    ...ownerLabels(owner),
    [labels.kind]: spec.kind ?? instanceKind,
    [labels.id]: spec.deployId,
    [labels.service]: spec.serviceName,
    [labels.serviceId]: spec.serviceId,
    [labels.index]: String(spec.index),
    [labels.spec]: specHash(owner, spec),
  }
}

// Busybox, dash and bash replace themselves by the last command of `sh -c`, so it gets SIGTERM itself. As
// process 1 it would ignore the signal unless it handles it; hence Init.
function startCommand(command: string | null): Pick<ContainerCreateOptions, 'Entrypoint' | 'Cmd'> {
  return command === null ? {} : { Entrypoint: ['sh', '-c'], Cmd: [command] }
}

// MemorySwap counts memory and swap together: equal to Memory it means no swap. Docker refuses more CPUs than
// it has.
export function limits(spec: Limits, host: HostTraits) {
  const memoryBytes = spec.memoryLimitMb * bytesPerMb
  return {
    Memory: memoryBytes,
    MemorySwap: memoryBytes,
    NanoCpus: Math.round(Math.min(spec.cpuLimit, host.cpus) * 1e9),
    PidsLimit: spec.pidsLimit,
  }
}

// A log driver that the host's owner chose is kept. With less than 10 MiB x 3, followers lose lines at
// each rotation.
export function logging(host: HostTraits) {
  if (host.loggingDriver !== 'json-file') return {}
  return { LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '3' } } }
}

/** Images need these that start as root and drop to a user. NET_RAW would let them forge addresses. */
export const confinement = {
  CapDrop: ['ALL'],
  CapAdd: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETUID', 'SETGID', 'KILL', 'NET_BIND_SERVICE'],
  SecurityOpt: ['no-new-privileges:true'],
}

/** Labels of the volumes for VOLUME paths say whose they are after their container is gone. */
function imageVolumes(owner: Owner, spec: InstanceSpec, volumePaths: string[]): MountConfig {
  if (spec.kind !== undefined && spec.kind !== instanceKind) return []
  const Labels = {
    ...ownerLabels(owner),
    [labels.kind]: imageVolumeKind,
    [labels.id]: spec.serviceId,
    [labels.service]: spec.serviceName,
  }
  const disk = spec.volume && posix.join(spec.volume.mountPath, '.')
  return volumePaths
    .filter((path) => path !== disk && path !== '/' && posix.isAbsolute(path))
    .map((path) => ({
      Type: 'volume',
      Source: '',
      Target: path,
      VolumeOptions: { NoCopy: false, Labels, DriverConfig: { Name: '', Options: {} } },
    }))
}

export function toMount(volume: { name: string; mountPath: string; isReadOnly?: boolean }) {
  const readOnly = volume.isReadOnly && { ReadOnly: true }
  return { Type: 'volume' as const, Source: volume.name, Target: volume.mountPath, ...readOnly }
}
