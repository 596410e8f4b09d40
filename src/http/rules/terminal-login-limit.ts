// Limits the number of open terminal logins, because anyone can open one. A network at its limit is
// rejected. At the overall limit, a new login evicts the oldest one of the network that has the most.
import type { TerminalLoginRecord } from '../../../machines/terminal-login.ts'
import { RetryLater } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { networkOf } from '../server/address-block.ts'

const maxOpenLogins = { all: 100, perSource: 10 }

/** Throws `too_many_attempts` if the network of the address has too many open logins. */
export function assertBelowLoginLimit(context: HttpContext, address: string): void {
  const source = networkOf(address)
  const ownLogins = openLogins(context).filter((one) => networkOf(one.address) === source)
  // Counted by id, because a login can briefly be in both lists.
  const starting = [...context.terminalLogins.starting].filter(([, one]) => networkOf(one) === source)
  const ids = new Set([...starting.map(([id]) => id), ...ownLogins.map(({ id }) => id)])
  if (ids.size < maxOpenLogins.perSource) return
  const ends = ownLogins.map(({ expires_at }) => Date.parse(expires_at) - Date.now())
  const waitSeconds = Math.ceil(Math.min(600_000, ...ends) / 1000)
  const message = 'too many open logins from this address'
  const hint = 'wait until one of them ends; each lasts at most ten minutes'
  throw new RetryLater('too_many_attempts', message, Math.max(1, waitSeconds), hint)
}

/** Runs after a login was created. An approved login is never ended. */
export function enforceLoginLimit(context: HttpContext, madeId: string): Promise<void> {
  return context.terminalLogins.serialize(() => evictSurplus(context, madeId))
}

async function evictSurplus(context: HttpContext, madeId: string): Promise<void> {
  const attempted = new Set([madeId])
  for (;;) {
    const open = openLogins(context)
    const next = evictionOrder(open).find(({ id }) => !attempted.has(id))
    const ids = new Set([...context.terminalLogins.starting.keys(), ...open.map(({ id }) => id)])
    if (ids.size <= maxOpenLogins.all || !next) return
    attempted.add(next.id)
    const event = { type: 'evict', at: new Date().toISOString(), by: 'the limit on open terminal logins' }
    // The login may have ended in the meantime.
    await context.actors.send(next.id, event).catch(() => undefined)
  }
}

/** The networks with the most open logins first, and within them the oldest login. */
function evictionOrder(open: readonly TerminalLoginRecord[]): TerminalLoginRecord[] {
  const counts = new Map<string, number>()
  for (const { address } of open) {
    counts.set(networkOf(address), (counts.get(networkOf(address)) ?? 0) + 1)
  }
  const countOf = ({ address }: TerminalLoginRecord) => counts.get(networkOf(address))!
  const evictable = open.filter(({ status }) => status !== 'approved')
  return evictable.sort((a, b) => countOf(b) - countOf(a) || (a.created_at < b.created_at ? -1 : 1))
}

function openLogins({ storage: { actors } }: HttpContext): TerminalLoginRecord[] {
  const records = [...actors.active('terminal-login')].map(({ id }) => actors.record<'terminal-login'>(id))
  return records.filter((record) => record !== null)
}
