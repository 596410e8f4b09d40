// Alike requests within a minute are one entry of the audit log, with a count: what anyone can be refused,
// and what a token below `admin` can repeat. They could push everything else out of the log: so new entries
// have a rate for each caller, and one for all visitors; the rest share one entry per hour.
import type { Audit, AuditEntry } from '../../../storage/audit.ts'
import { createRate } from '../../account/terminal-logins.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** At most 240 a day: an attack of a year takes less than half of the log. */
const refusals = { atOnce: 30, intervalMs: 6 * minuteMs }
const changes = { atOnce: 300, intervalMs: minuteMs / 5 }

/** An entry that alike requests can share. */
export interface SharedEntry {
  key: string
  /** The entry of the rest has no outcome. */
  isRest: boolean
  /** As it was last written. */
  entry: AuditEntry
  /** Those of its requests that failed after it was shared. */
  failures: number
  /** Resolves when it is durable. */
  stored: Promise<void>
}

export function createAlikeEntries(audit: Pick<Audit, 'newEntry' | 'write'>) {
  const rates = { refusals: createRate(refusals), changes: createRate(changes) }
  const open = new Map<string, SharedEntry>()

  function start(key: string, entry: AuditEntry, lifetimeMs: number, isRest = false): SharedEntry {
    const shared = { key, isRest, entry, failures: 0, stored: audit.write(entry) }
    open.set(key, shared)
    const end = () => {
      close(shared)
      if (!isPowerOf2(shared.entry.count)) audit.write(shared.entry).catch(() => undefined)
    }
    setTimeout(end, lifetimeMs).unref()
    return shared
  }

  function close(shared: SharedEntry): void {
    if (open.get(shared.key) === shared) open.delete(shared.key)
  }

  /** A storm writes rarely: its count is stored when it has doubled, and at its end. */
  function repeat(shared: SharedEntry): SharedEntry {
    shared.entry = { ...shared.entry, count: shared.entry.count + 1 }
    if (isPowerOf2(shared.entry.count)) shared.stored = audit.write(shared.entry)
    return shared
  }

  return {
    /** Of an entry without an outcome, or with that of a refusal. */
    add(entry: AuditEntry): SharedEntry {
      const { actor, address, action, subject, code, changed } = entry
      const own = JSON.stringify([actor.kind, actor.id, address, action, subject, code, changed])
      const others = actor.id === null ? '' : JSON.stringify([actor.kind, actor.id, action])
      const alike = open.get(own)
      if (alike) return repeat(alike)
      const rate = rates[code === null ? 'changes' : 'refusals']
      const caller = actor.id ?? ''
      if (rate.waitMs(caller) === 0) {
        rate.take(caller)
        return start(own, entry, minuteMs)
      }
      const rest = open.get(others)
      return rest ? repeat(rest) : start(others, ofMany(entry), hourMs, true)
    },

    /** Adds the outcome of a request. No success may count as a failure. */
    complete(
      shared: SharedEntry,
      entry: AuditEntry,
      outcome: Partial<AuditEntry>,
    ): Promise<void> | undefined {
      const isFailed = outcome.code != null
      const former = shared.entry
      if (isFailed) shared.failures++
      if (isFailed && (shared.isRest || shared.failures < former.count))
        return this.add({ ...entry, ...outcome, id: audit.newEntry().id }).stored
      if (former.finished_at !== null) return undefined
      if (isFailed) close(shared)
      shared.entry = { ...former, ...outcome }
      return audit.write(shared.entry, former)
    },
  }
}

function ofMany(entry: AuditEntry): AuditEntry {
  const visitor = { kind: 'visitor', id: null, name: null } as const
  const { actor, subject } = entry
  const about = {
    subject: { kind: subject.kind, id: null, name: null },
    service_id: null,
    service_name: null,
  }
  const origin = { address: null, user_agent: null, request_id: null, changed: [] }
  const finished_at = entry.finished_at ?? entry.at
  return { ...entry, ...about, ...origin, finished_at, actor: actor.id === null ? visitor : actor }
}

function isPowerOf2(count: number): boolean {
  return (count & (count - 1)) === 0
}
