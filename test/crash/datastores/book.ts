// The datastores of the run, and what the answers promised of each.
import type { Body } from '../../support/api.ts'
import type { Client } from '../client.ts'
import type { Ledger } from '../ledger.ts'
import type { Incidents } from './incidents.ts'
import type { Kind } from './line-client.ts'

export interface DatastoreEntry {
  id: string
  name: string
  kind: Kind
  /** What the creation was answered with. */
  answer: Body
  /** As the last acknowledged requests left it; null is the server's default. */
  wanted: { memory_limit_mb: number | null; cpu_limit: number | null }
  /** Over when the last change of its limits is answered: of two at once nobody knows which is the last. */
  limiting: Promise<void>
  /** The deletion was acknowledged. */
  isDeleted: boolean
}

/** A POST that was answered: asked again with its key, it must be answered with the same datastore. */
export interface DatastoreRequest {
  path: string
  key: string
  body: unknown
  entry: DatastoreEntry
}

/** What all users of the run share. */
export interface Book {
  client: Client
  ledger: Ledger
  incidents: Incidents
  datastores: DatastoreEntry[]
  requests: DatastoreRequest[]
  isOver: () => boolean
  /** Limits that were set without Docker must come to be by themselves: nobody does anything that helps. */
  isLeftAlone: boolean
}

export function living({ datastores }: Pick<Book, 'datastores'>): DatastoreEntry[] {
  return datastores.filter(({ isDeleted }) => !isDeleted)
}
