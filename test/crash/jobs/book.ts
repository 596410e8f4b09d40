// The services and runs of the drill, and what was acknowledged for each.
import type { Body } from '../../support/daemon/api.ts'
import type { Client } from '../client.ts'
import type { Incidents } from '../datastores/incidents.ts'
import type { Followers } from '../follower.ts'
import type { Ledger } from '../ledger.ts'
import type { Task } from './tasks.ts'

export type Overlap = 'skip' | 'queue' | 'replace'

export interface JobService {
  id: string
  name: string
  /** Null for the service without a schedule. */
  overlap: Overlap | null
  /** The service's own command; null for the service without a schedule. */
  ownTask: Task | null
  /** When it went live, in ms since 1970; nothing was due earlier. */
  liveAt: number
  /** Skipped times that the API reported, in ms since 1970. */
  skips: Set<number>
}

/** A requested run that was acknowledged. */
export interface JobEntry {
  id: string
  service: JobService
  task: Task
  isOwn: boolean
  path: string
  key: string
  body: object
  /** Whether a cancel was sent; `accepted` once it was acknowledged. */
  cancel: 'none' | 'asked' | 'accepted' | 'refused'
}

/** State shared by all users of the drill. */
export interface Book {
  client: Client
  ledger: Ledger
  incidents: Incidents
  followers: Followers
  services: JobService[]
  entries: Map<string, JobEntry>
  /** The port of the mark listener. */
  markPort: number
  isOver: () => boolean
}

export const cronServices = ({ services }: Pick<Book, 'services'>) =>
  services.filter(({ overlap }) => overlap !== null)

/** Followed runs whose log has not ended. */
export function openRuns({ followers }: Book): Set<string> {
  return new Set(followers.all.filter(({ isEnded, isGone }) => !isEnded && !isGone).map(({ id }) => id))
}

/** Whether Docker was down at some time during a run. */
export function isEngineDisturbed({ incidents }: Book, { created_at, finished_at }: Body): boolean {
  const toClock = (at: string) => Date.parse(at) - performance.timeOrigin
  return incidents.wasEngineAway(toClock(created_at), finished_at ? toClock(finished_at) : performance.now())
}
