// An entry in the history of an actor. It holds no secret, so the change feed carries it too.

/** The origin of a change, under the name at that time. */
export interface By {
  kind: 'session' | 'token' | 'terminal' | 'schedule' | 'push' | 'server'
  /** The id of the session's user or of the token; null for other kinds. */
  id: string | null
  /** The name of the token or terminal; for `server`, the reason. */
  name: string | null
}

export interface HistoryEntry {
  at: string
  event: string
  state: string
  status: string
  phase: string | null
  /** The sender of the event; null for effects and in entries older than the field. */
  by: By | null
  /** Of the record after the transition. */
  revision: number
  /** The start of the daemon that stored the entry, as a number; null in entries older than the field. */
  boot: number | null
}

/** The rest is known when it is stored. */
export type NewEntry = Omit<HistoryEntry, 'revision' | 'boot'>

/** A history entry together with its actor. */
export interface ActorTransition extends HistoryEntry {
  actor_id: string
  kind: string
}
