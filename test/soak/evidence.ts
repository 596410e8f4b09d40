// The evidence that a run is judged by: the swaps, the states of all deploys, and the samples of the load.
import type { LoadPlan } from './plan.ts'
import type { RequestSample, StreamSample } from './sample.ts'

export const swapKinds = ['deploy', 'rollback', 'restart', 'scale'] as const
export type SwapKind = (typeof swapKinds)[number]

export interface Swap {
  number: number
  kind: SwapKind
  service: string
  /** The requested change: `to 3 instances`, `to dep-…`. */
  words: string
  askedAt: number
  /** The new instances serve and the old ones are gone. */
  doneAt: number
  /** When it was live, or had the wanted number of instances. */
  liveAt: number
  /** When the new version was ready for the switch; null without a new version. */
  switchingAt: number | null
  /** Containers that existed only before, and only after the swap. */
  left: string[]
  joined: string[]
  /** Until then, no container in `left` may drop open connections. */
  limitAt: number
}

/** When a deploy reached each state, from its history; null for states it has not reached. */
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
  /** The duration of the load. */
  loadMs: number
  requests: readonly RequestSample[]
  streams: readonly StreamSample[]
  swaps: readonly Swap[]
  deploys: readonly DeployTimes[]
}

/** The swaps in progress at that time. */
export function swapsAt({ swaps }: Evidence, at: number): Swap[] {
  return swaps.filter(({ askedAt, doneAt }) => askedAt <= at && at <= doneAt)
}
