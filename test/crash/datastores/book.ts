// The datastores of the run, and what was acknowledged for each.
import type { Body } from '../../support/daemon/api.ts'
import type { Client } from '../client.ts'
import type { Ledger } from '../ledger.ts'
import type { Incidents } from './incidents.ts'
import type { Kind } from './line-client.ts'

export interface DatastoreEntry {
  id: string
  name: string
  kind: Kind
  /** The response to the creation. */
  answer: Body
  /** After the last acknowledged requests; null is the server's default. */
  wanted: { memory_limit_mb: number | null; cpu_limit: number | null }
  /**
   * Resolves with the response to the last change of its limits. Changes are serialized, because the order of
   * two concurrent ones is unknown.
   */
  limiting: Promise<void>
  /** Whether the deletion was acknowledged. */
  isDeleted: boolean
}

/** An acknowledged POST. Repeated with its key, it must return the same datastore. */
export interface DatastoreRequest {
  path: string
  key: string
  body: unknown
  entry: DatastoreEntry
}

/** State shared by all users of the run. */
export interface RunState {
  client: Client
  ledger: Ledger
  incidents: Incidents
  datastores: DatastoreEntry[]
  requests: DatastoreRequest[]
  isOver: () => boolean
  /**
   * Whether limits saved without Docker are being checked: they must be applied without any further request.
   */
  isLeftAlone: boolean
}

export function living({ datastores }: Pick<RunState, 'datastores'>): DatastoreEntry[] {
  return datastores.filter(({ isDeleted }) => !isDeleted)
}
