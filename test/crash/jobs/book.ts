// The services and the runs of the drill, and what the answers promised of each.
import type { Body } from '../../support/api.ts'
import type { Client } from '../client.ts'
import type { Incidents } from '../datastores/incidents.ts'
import type { Followers } from '../follower.ts'
import type { Ledger } from '../ledger.ts'
import type { Task } from './tasks.ts'

export type Overlap = 'skip' | 'queue' | 'replace'

export interface JobService {
  id: string
  name: string
  /** Null for the one whose runs are all asked for. */
  overlap: Overlap | null
  /** What the service itself is set to run; null for the other one. */
  ownTask: Task | null
  /** When it went live, in ms since 1970: nothing was due before. */
  liveAt: number
  /** Instants without a run of which the API told, in ms since 1970. */
  told: Set<number>
}

/** A run that somebody asked for, and was told of. */
export interface JobEntry {
  id: string
  service: JobService
  task: Task
  isOwn: boolean
  path: string
  key: string
  body: object
  /** Somebody sent a cancel for it: `accepted` once that was acknowledged. */
  cancel: 'none' | 'asked' | 'accepted' | 'refused'
}

/** What all users of the drill share. */
export interface Book {
  client: Client
  ledger: Ledger
  incidents: Incidents
  followers: Followers
  services: JobService[]
  entries: Map<string, JobEntry>
  /** Where marks are listened for. */
  markPort: number
  isOver: () => boolean
}

export const cronServices = ({ services }: Pick<Book, 'services'>) =>
  services.filter(({ overlap }) => overlap !== null)

/** Runs that are followed and whose log has not ended. */
export function openRuns({ followers }: Book): Set<string> {
  return new Set(followers.all.filter(({ isEnded, isGone }) => !isEnded && !isGone).map(({ id }) => id))
}

/** Whether Docker was away at some time in the life of a run. */
export function isEngineDisturbed({ incidents }: Book, { created_at, finished_at }: Body): boolean {
  const toClock = (at: string) => Date.parse(at) - performance.timeOrigin
  return incidents.wasEngineAway(toClock(created_at), finished_at ? toClock(finished_at) : performance.now())
}
