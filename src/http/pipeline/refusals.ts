// Refused requests in the audit log. Alike ones within a minute are one entry with a count. Anyone can be
// refused, and could push everything else out of the log: so new entries have a rate, and the rest share one
// per hour.
import type { AuditEntry } from '../../../storage/audit.ts'
import { createRate } from '../../account/terminal-logins.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** At most 240 a day: an attack of a year takes less than half of the log. */
const rows = { atOnce: 30, intervalMs: 6 * minuteMs }

export function createRefusals(write: (entry: AuditEntry) => Promise<void>) {
  const rate = createRate(rows)
  const open = new Map<string, AuditEntry>()

  function start(key: string, entry: AuditEntry, lifetimeMs: number): Promise<void> {
    open.set(key, entry)
    const end = () => {
      const { count } = open.get(key)!
      open.delete(key)
      if (!isPowerOf2(count)) write({ ...entry, count }).catch(() => undefined)
    }
    setTimeout(end, lifetimeMs).unref()
    return write(entry)
  }

  /** A storm writes rarely: its count is stored when it has doubled, and at its end. */
  function repeat(key: string, entry: AuditEntry): Promise<void> | undefined {
    const next = { ...entry, count: entry.count + 1 }
    open.set(key, next)
    return isPowerOf2(next.count) ? write(next) : undefined
  }

  return (entry: AuditEntry): Promise<void> | undefined => {
    const { actor, address, action, subject, code } = entry
    const key = JSON.stringify([actor.kind, actor.id, address, action, subject, code])
    const alike = open.get(key)
    if (alike) return repeat(key, alike)
    if (rate.waitMs('') === 0) {
      rate.take('')
      return start(key, entry, minuteMs)
    }
    const others = open.get('')
    return others ? repeat('', others) : start('', ofMany(entry), hourMs)
  }
}

function ofMany(entry: AuditEntry): AuditEntry {
  const nobody = { kind: 'visitor', id: null, name: null } as const
  const { kind } = entry.subject
  const about = { subject: { kind, id: null, name: null }, service_id: null, service_name: null }
  return { ...entry, ...about, actor: nobody, address: null, user_agent: null, request_id: null }
}

function isPowerOf2(count: number): boolean {
  return (count & (count - 1)) === 0
}
