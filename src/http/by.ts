// Who asks, as records and histories keep it: the name that a token has now, also when it is revoked later.
import type { By } from '../../storage/actors.ts'
import { serverCaller } from '../account/callers.ts'
import type { Call } from './route.ts'

/** In a sentence; the whole name is in the record. */
const shownChars = 40

type Asking = Pick<Call, 'caller' | 'context'>

export function byOf({ caller, context }: Asking): By {
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
export function command<Detail extends object>(call: Asking, type: string, detail?: Detail) {
  const asker = byOf(call)
  return { type, at: new Date().toISOString(), by: wordsFor(asker), asker, ...(detail as Detail) }
}

/** Reads after "canceled by". */
export function wordsFor({ kind, name }: By): string {
  if (kind === 'session') return 'the administrator'
  if (name === 'server token') return 'the server token'
  const shown = name === null ? '' : ` ${[...name].slice(0, shownChars).join('')}`
  return kind === 'token' || kind === 'terminal' ? `${kind}${shown}` : (name ?? `the ${kind}`)
}

/** Terminals choose their name: no control or formatting character of it gets into a log or a table. */
function printable(name: string): string {
  return name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?').slice(0, 100)
}
