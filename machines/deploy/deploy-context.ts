// Input and context of a deploy: plain JSON, because they are stored.
// They contain no secrets. The settings and env of a deploy are its release, which effects read by id.

import { duration } from '../../src/quantities.ts'
import { type Problem, problemOf } from '../problem.ts'
import type { SlotFailure, SlotOutput } from '../slot.ts'

export interface DeploySource {
  kind: 'git' | 'archive' | 'image' | 'reuse'
  repo_url: string | null
  branch: string | null
  commit: string | null
  image: string | null
  /** The deploy whose image (and, for a rollback, settings and env) is reused. */
  deploy_id: string | null
}

export type DeployTrigger = 'create' | 'manual' | 'push' | 'hook' | 'upload' | 'rollback' | 'restart'

export interface DeployInput {
  id: string
  serviceId: string
  trigger: DeployTrigger
  source: DeploySource
  clearCache: boolean
  limits: { fetchMs: number; buildMs: number; startMs: number }
  at: string
}

export type DeployEvent =
  | { type: 'cancel'; at: string; by: string }
  | { type: 'instances.reported'; at: string; degraded: boolean }
  /** The build waits for a slot: other builds use all of them. */
  | { type: 'build.queued'; at: string }
  | { type: 'build.started'; at: string }

/** The result of getting the turn: the release is frozen, and the chart needs these parts of it. */
export interface Turn extends SlotOutput {
  supersededBy: string | null
  formerDeployId: string | null
  /** The service has a disk: the former instances stop before these start. */
  exclusive: boolean
  /** A pre-deploy command runs in the new image before its instances start. */
  preDeploy: boolean
  /** The service is a cron job: it runs only on its schedule. */
  onSchedule: boolean
  checkMs: number
  /** How long it must stay healthy before it replaces a live deploy; 0 without one. */
  settleMs: number
  drainMs: number
  /** For a restart or a rollback: the image and its origin. */
  reused: Pick<DeployContext, 'image' | 'commitSha' | 'commitMessage' | 'source'> | null
}

/** The origin of a port; `detected` is a port on which the app was found to listen. */
export type PortSource = 'setting' | 'env' | 'image' | 'default' | 'detected'

/** How a deploy was checked: by a path, the HEALTHCHECK of its image, its port, or only that it runs. */
export type HealthCheck = 'path' | 'image' | 'port' | 'running'

export interface DeployContext extends DeployInput {
  phase: Phase | null
  /** When the running phase times out: ms since 1970. Null while a build waits for a slot. */
  deadlineAt?: number | null
  startedAt: string | null
  finishedAt: string | null
  error: Problem | null
  commitSha: string | null
  commitMessage: string | null
  image: string | null
  port: number | null
  /** Missing in deploys of older versions, like `healthCheck`. */
  portSource?: PortSource | null
  healthCheck?: HealthCheck | null
  warnings?: DeployWarning[]
  formerDeployId: string | null
  exclusive: boolean
  preDeploy: boolean
  onSchedule: boolean
  checkMs: number
  settleMs: number
  drainMs: number
  degraded: boolean
}

/** What a user should know of a version that works. */
export type DeployWarning =
  /** Without a disk for this VOLUME path of the image, each instance begins with the data of the image. */
  | { code: 'volume_without_disk'; path: string }
  /** The source keeps data in files. The reason says what and where; the path is what a disk can cover. */
  | { code: 'data_without_disk'; path: string; reason: string }
  /** The first request through the edge got this status, of 500 or more. */
  | { code: 'page_fails'; path: string; status: number }

/** Null if no request was answered in time, or none was sent. */
export interface Switched extends SlotOutput {
  status: number | null
}

export type Phase = 'fetching' | 'building' | 'pulling' | 'preparing' | 'starting' | 'checking' | 'switching'

export function initialContext(input: DeployInput): DeployContext {
  return {
    ...input,
    phase: null,
    startedAt: null,
    finishedAt: null,
    error: null,
    commitSha: null,
    commitMessage: null,
    image: null,
    port: null,
    formerDeployId: null,
    exclusive: false,
    preDeploy: false,
    onSchedule: false,
    checkMs: 0,
    settleMs: 0,
    drainMs: 0,
    degraded: false,
  }
}

export function contextOfTurn(turn: Turn): Partial<DeployContext> {
  const { at, supersededBy, reused, ...settings } = turn
  return { startedAt: at, ...settings }
}

/** The port on which the app is expected to listen, and later the one on which it does. */
export interface Listening {
  port: number
  portSource: PortSource
}

export interface Fetched {
  commitSha: string | null
  commitMessage: string | null
  /** The detected default branch, if the request named none. */
  branch?: string | null
}

const portOf = ({ port, portSource }: Listening) => ({ port, portSource })

export const fromOutput = {
  source: ({ source }: DeployContext, { commitSha, commitMessage, branch }: Fetched) => ({
    commitSha,
    commitMessage,
    source: branch ? { ...source, branch } : source,
  }),
  port: portOf,
  health: (output: Listening & { healthCheck: HealthCheck }) => ({
    ...portOf(output),
    healthCheck: output.healthCheck,
  }),
  started: (output: Listening & { warnings: DeployWarning[] }) => ({
    ...portOf(output),
    warnings: output.warnings,
  }),
  switched: ({ warnings = [] }: DeployContext, { at, status }: Switched) => ({
    finishedAt: at,
    phase: null,
    warnings:
      status !== null && status >= 500
        ? [...warnings, { code: 'page_fails' as const, path: '/', status }]
        : warnings,
  }),
  /** A cron job is live without checks. */
  scheduled: (output: Listening & SlotOutput) => ({
    ...portOf(output),
    finishedAt: output.at,
    phase: null,
  }),
}

export function instantOf(event: unknown): string {
  return (event as { output: SlotOutput }).output.at
}

/** A build has its limit from when it gets a build slot. */
export function deadlineOf(phase: Phase, { limits, checkMs, settleMs }: DeployContext, from: string): number {
  const [limitMs] = limitOf(phase, limits) ?? [checkMs + settleMs]
  return Date.parse(from) + limitMs
}

export function failed(context: DeployContext, failure: SlotFailure) {
  const problem = problemOf(failure)
  const isLate = problem.code === 'timeout'
  const error = isLate ? { ...problem, message: describeTimeout(context) } : problem
  return { error, finishedAt: failure.at }
}

export function superseded({ supersededBy, at }: Turn) {
  const message = `superseded by ${supersededBy}`
  const error: Problem = { code: 'superseded', message, details: { deploy_id: supersededBy! } }
  return { error, finishedAt: at }
}

/** The message for a phase that exceeded its limit, with the limit and the option that sets it. */
function describeTimeout({ phase, limits, checkMs }: DeployContext): string {
  const [limitMs, option] = limitOf(phase, limits) ?? [checkMs, '--health-timeout']
  return `${phase} took longer than its limit of ${duration(limitMs)} (${option})`
}

export function limitOf(
  phase: Phase | null,
  limits: DeployInput['limits'],
): [limitMs: number, option: string] | null {
  if (phase === 'checking') return null
  if (phase === 'fetching' || phase === 'pulling') return [limits.fetchMs, '--fetch-timeout']
  if (phase === 'building' || phase === 'preparing') return [limits.buildMs, '--build-timeout']
  return [limits.startMs, '--start-timeout']
}
