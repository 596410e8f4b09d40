// The caller as stored in records and histories. The name of a token is copied, so it outlives the token.
import type { By } from '../../../storage/actors/actors.ts'
import { type Caller, serverCaller } from '../../account/callers.ts'
import type { Call } from '../pipeline/route.ts'

type CallerContext = Pick<Call, 'caller' | 'context'>

export function requesterOf({ caller, context }: CallerContext): By {
  if (caller === null) return { kind: 'server', id: null, name: null }
  // A user's e-mail address is shown to sessions only: the record has the user's id.
  if (caller.kind === 'session') {
    return { kind: 'session', id: context.administrator.get()?.id ?? null, name: null }
  }
  if (caller.id === serverCaller.id) return { kind: 'token', id: caller.id, name: 'server token' }
  const row = context.storage.tokens.byId(caller.id)
  return { kind: row?.terminal ? 'terminal' : 'token', id: caller.id, name: row ? printable(row.name) : null }
}

/** A command to an actor: `by` for its messages, `asker` for its history. */
export function command<Detail extends object>(call: CallerContext, type: string, detail?: Detail) {
  const requester = requesterOf(call)
  return {
    type,
    at: new Date().toISOString(),
    by: describeRequester(requester),
    asker: requester,
    ...(detail as Detail),
  }
}

/** Text for "canceled by …". All readers of the record see it, so it omits the name of a token. */
export function describeRequester({ kind, name }: By): string {
  if (kind === 'session') return 'the administrator'
  if (name === 'server token') return 'the server token'
  return kind === 'token' || kind === 'terminal' ? `a ${kind}` : (name ?? `the ${kind}`)
}

/** For a token that is limited to services, other callers are reduced to their kind. */
export function toJson(caller: Caller | null, response: unknown): string {
  if (!caller || caller.services === null) return JSON.stringify(response)
  return JSON.stringify(response, (key, value) =>
    key === 'by' && isOtherCaller(caller, value) ? { kind: value.kind, id: null, name: null } : value,
  )
}

function isOtherCaller({ id }: Caller, by: Partial<By> | null): boolean {
  return ['session', 'token', 'terminal'].includes(by?.kind ?? '') && by?.id !== id
}

/** Terminals choose their names, so control and formatting characters are removed. */
export function printable(name: string, maxChars = 100): string {
  return name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?').slice(0, maxChars)
}
