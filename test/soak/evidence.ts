// All that a run is judged by: what was swapped, when each deploy was what, and what the load saw.
import type { LoadPlan } from './plan.ts'
import type { RequestSample, StreamSample } from './sample.ts'

export const swapKinds = ['deploy', 'rollback', 'restart', 'scale'] as const
export type SwapKind = (typeof swapKinds)[number]

export interface Swap {
  number: number
  kind: SwapKind
  service: string
  /** What was asked for: `to 3 instances`, `to dep-…`. */
  words: string
  askedAt: number
  /** The new instances serve and the former ones are gone. */
  doneAt: number
  /** Live, or as many instances as wanted. */
  liveAt: number
  /** When the new version became ready to be switched to; null where there is none. */
  switchingAt: number | null
  /** Containers that were there before and not after, and the other way round. */
  left: string[]
  joined: string[]
  /** Before this instant none of `left` may lose what is open. */
  limitAt: number
}

/** When a deploy came to what, by its own history; null for what it has not come to. */
export interface DeployTimes {
  id: string
  service: string
  switchingAt: number | null
  liveAt: number | null
  drainingAt: number | null
  deactivatedAt: number | null
}

export interface Evidence {
  plan: LoadPlan
  /** How long the load was on. */
  loadMs: number
  requests: readonly RequestSample[]
  streams: readonly StreamSample[]
  swaps: readonly Swap[]
  deploys: readonly DeployTimes[]
}

/** What was being swapped at that instant. */
export function swapsAt({ swaps }: Evidence, at: number): Swap[] {
  return swaps.filter(({ askedAt, doneAt }) => askedAt <= at && at <= doneAt)
}
