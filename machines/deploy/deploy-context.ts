// What a deploy is asked for, and what its actor remembers: plain JSON, as everything that is stored.
// No secret is in here. Settings and env of a deploy are its release, read by id.

import { duration } from '../../src/quantities.ts'
import { type Problem, problemOf } from '../problem.ts'
import type { SlotFailure, SlotOutput } from '../slot.ts'

export interface DeploySource {
  kind: 'git' | 'archive' | 'image' | 'reuse'
  repo_url: string | null
  branch: string | null
  commit: string | null
  image: string | null
  /** Whose image (and, for a rollback, settings and env) is used again. */
  deploy_id: string | null
}

export type DeployTrigger = 'create' | 'manual' | 'upload' | 'rollback' | 'restart'

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

/** What having the turn brings: the release is frozen, and these parts of it are the chart's business. */
export interface Turn extends SlotOutput {
  supersededBy: string | null
  formerDeployId: string | null
  /** The service has a disk: the former instances stop before these start. */
  exclusive: boolean
  /** A command runs in the new image before anything of it starts. */
  preDeploy: boolean
  /** Nothing of it runs by itself: its schedule says when. */
  onSchedule: boolean
  checkMs: number
  /** How long it must run, healthy, before it replaces one that serves; 0 when there is none. */
  settleMs: number
  drainMs: number
  /** What a restart or a rollback runs again: an image, and where it came from. */
  reused: Pick<DeployContext, 'image' | 'commitSha' | 'commitMessage' | 'source'> | null
}

/** What a port comes from; `detected` is where the app was seen to listen. */
export type PortSource = 'setting' | 'env' | 'image' | 'default' | 'detected'

/** How a deploy was checked: by a path, the HEALTHCHECK of its image, its port, or that it still runs. */
export type HealthCheck = 'path' | 'image' | 'port' | 'running'

export interface DeployContext extends DeployInput {
  phase: Phase | null
  startedAt: string | null
  finishedAt: string | null
  error: Problem | null
  commitSha: string | null
  commitMessage: string | null
  image: string | null
  port: number | null
  /** Missing in deploys of older versions, as is `healthCheck`. */
  portSource?: PortSource | null
  healthCheck?: HealthCheck | null
  formerDeployId: string | null
  exclusive: boolean
  preDeploy: boolean
  onSchedule: boolean
  checkMs: number
  settleMs: number
  drainMs: number
  degraded: boolean
}

export type Phase = 'fetching' | 'building' | 'pulling' | 'preparing' | 'starting' | 'checking' | 'switching'

/** The context before anything happened. */
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

/** What the turn leaves in the context. */
export function contextOfTurn(turn: Turn): Partial<DeployContext> {
  const { at, supersededBy, reused, ...taken } = turn
  return { startedAt: at, ...taken }
}

interface Listening {
  port: number
  portSource: PortSource
}

export interface Fetched {
  commitSha: string | null
  commitMessage: string | null
  /** Found where none was asked for. */
  branch?: string | null
}

const portOf = ({ port, portSource }: Listening) => ({ port, portSource })

/** What of the output of an effect goes into the context. */
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
  /** Nothing is left to do before it is live. */
  scheduled: (output: Listening & SlotOutput) => ({
    ...portOf(output),
    finishedAt: output.at,
    phase: null,
  }),
}

/** When the effect ended whose end the event is: it said so itself. */
export function instantOf(event: unknown): string {
  return (event as { output: SlotOutput }).output.at
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

/** Why a phase was ended, with what it may take and the option that sets it. */
function describeTimeout({ phase, limits, checkMs }: DeployContext): string {
  const [limitMs, option] = limitOf(phase, limits) ?? [checkMs, 'health_check_timeout_seconds']
  return `${phase} took longer than its limit of ${duration(limitMs)} (${option})`
}

function limitOf(
  phase: Phase | null,
  limits: DeployInput['limits'],
): [limitMs: number, option: string] | null {
  if (phase === 'checking') return null
  if (phase === 'fetching' || phase === 'pulling') return [limits.fetchMs, '--fetch-timeout']
  if (phase === 'building' || phase === 'preparing') return [limits.buildMs, '--build-timeout']
  return [limits.startMs, '--start-timeout']
}
