// What a deploy is asked for, and what its actor remembers: plain JSON, as everything that is stored.
// Mind: no secret is in here. Settings and env of a deploy are its release, read by id.
import type { SlotOutput } from './slot.ts'

export interface DeploySource {
  kind: 'git' | 'archive' | 'image' | 'reuse'
  repo_url: string | null
  branch: string | null
  commit: string | null
  image: string | null
  /** Whose image (and, for a rollback, settings and env) is used again. */
  deploy_id: string | null
}

export type DeployTrigger = 'create' | 'manual' | 'upload' | 'push' | 'hook' | 'rollback' | 'restart'

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
  checkMs: number
  drainMs: number
  /** What a restart runs again: the live deploy's image, and where that came from. */
  reused: Pick<DeployContext, 'image' | 'commitSha' | 'commitMessage' | 'source'> | null
}

export interface DeployContext extends DeployInput {
  phase: Phase | null
  startedAt: string | null
  finishedAt: string | null
  error: { code: string; message: string } | null
  commitSha: string | null
  commitMessage: string | null
  image: string | null
  port: number | null
  formerDeployId: string | null
  exclusive: boolean
  checkMs: number
  drainMs: number
  degraded: boolean
}

export type Phase = 'fetching' | 'building' | 'starting' | 'checking' | 'switching'

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
    checkMs: 0,
    drainMs: 0,
    degraded: false,
  }
}

/** What the turn leaves in the context. */
export function turnTaken(turn: Turn): Partial<DeployContext> {
  const { at, formerDeployId, exclusive, checkMs, drainMs } = turn
  return { startedAt: at, formerDeployId, exclusive, checkMs, drainMs }
}

/** When the event happened: what an effect resolved with says it. */
export function instantOf(event: unknown): string {
  const { output, at } = event as { output?: SlotOutput; at?: string }
  return output?.at ?? at!
}
