// Converts Docker's data about a container to the state of an instance. Pure. Docker represents "never" as a
// time in year 1. The fixed address stays known while the instance is stopped.
import type { ContainerInspectInfo } from 'dockerode'
import { labels } from '../engine/names.ts'
import type { RestartPolicy } from './spec.ts'

export interface InstanceState {
  name: string
  containerId: string
  deployId: string
  serviceId: string
  index: number
  state: 'created' | 'running' | 'restarting' | 'paused' | 'exited' | 'dead'
  address: string | null
  startedAt: string | null
  finishedAt: string | null
  /** The exit code of the last run; null while it runs, and if it is lost. */
  exitCode: number | null
  /** Null for an image without a HEALTHCHECK, and while it does not run. */
  health: InstanceHealth | null
  /** A process of it was killed for memory; only with exit code 137 it was the main one. */
  oomKilled: boolean
  restartCount: number
  restart: RestartPolicy
  pid: number | null
  memoryLimitBytes: number
  cpuLimit: number
  /** The name that its image had when it was created. */
  image: string
}

export interface InstanceHealth {
  status: 'starting' | 'healthy' | 'unhealthy'
  /** The first line that the last check wrote; empty when there was none. */
  output: string
  /** The check as a command with its arguments. */
  argv: string[]
}

export function toInstanceState(info: ContainerInspectInfo): InstanceState {
  const { State: state, Config: config, HostConfig: host } = info
  const finishedAt = toTime(state.FinishedAt)
  const isUp = state.Running && !state.Restarting
  return {
    name: info.Name.replace(/^\//, ''),
    containerId: info.Id,
    deployId: config.Labels[labels.id] ?? '',
    serviceId: config.Labels[labels.serviceId] ?? '',
    index: Number(config.Labels[labels.index] ?? 0),
    state: toStatus(state.Status),
    address: addressOf(info),
    startedAt: toTime(state.StartedAt),
    finishedAt,
    exitCode: finishedAt === null || isUp ? null : state.ExitCode,
    health: isUp ? healthOf(info) : null,
    oomKilled: state.OOMKilled,
    restartCount: info.RestartCount,
    restart: host.RestartPolicy?.Name === 'unless-stopped' ? 'unless-stopped' : 'no',
    pid: state.Pid === 0 ? null : state.Pid,
    memoryLimitBytes: host.Memory ?? 0,
    cpuLimit: (host.NanoCpus ?? 0) / 1e9,
    image: config.Image,
  }
}

/** Whether the instance has ended and Docker will not restart it automatically. */
export function isEnded(state: InstanceState): boolean {
  return state.state === 'exited' || state.state === 'dead'
}

function toStatus(status: string): InstanceState['state'] {
  if (status === 'created' || status === 'running' || status === 'restarting') return status
  if (status === 'paused' || status === 'exited') return status
  return 'dead'
}

const maxOutput = 200

function healthOf({
  State: { Health: health },
  Config: config,
}: ContainerInspectInfo): InstanceHealth | null {
  const { Healthcheck: check, Shell: shell } = config as HealthConfig
  const [kind, ...test] = check?.Test ?? []
  const { Status: status, Log: log } = health ?? {}
  if (status !== 'starting' && status !== 'healthy' && status !== 'unhealthy') return null
  const [output = ''] = (log?.at(-1)?.Output ?? '').trim().split('\n')
  const argv = kind === 'CMD-SHELL' ? [...(shell ?? ['/bin/sh', '-c']), ...test] : test
  return { status, output: output.slice(0, maxOutput), argv }
}

interface HealthConfig {
  Healthcheck?: { Test?: string[] } | null
  Shell?: string[] | null
}

function toTime(text: string): string | null {
  return text.startsWith('0001-') ? null : new Date(text).toISOString()
}

function addressOf(info: ContainerInspectInfo): string | null {
  for (const network of Object.values(info.NetworkSettings.Networks)) {
    const address: unknown = network.IPAddress || network.IPAMConfig?.IPv4Address
    if (typeof address === 'string') return address
  }
  return null
}
