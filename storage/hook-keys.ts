// The secrets of hooks: of a git connection, and of the deploy hook of a service. They derive from the key of
// the server, so that none is stored; a new one has the next number.
import { isEqualSecret } from '../src/equal-secret.ts'
import type { Sealer } from './secrets.ts'
import type { Store } from './store/store.ts'

export function openHookKeys(store: Store, sealer: Sealer) {
  const numbers = store.table<number>('hook_key_numbers')
  const numberOf = (id: string) => numbers.getOrNull(id) ?? 1
  const derive = (id: string) => sealer.derive(`hook ${id} ${numberOf(id)}`)
  const get = (id: string) => `bthk_${derive(id)}`

  return {
    /** `id` is the connection's or the service's. */
    get,
    /** In the form that GitLab accepts as the signing token of a webhook. */
    getSigningToken: (id: string) => `whsec_${Buffer.from(derive(id), 'base64url').toString('base64')}`,
    /** In constant time. */
    matches: (id: string, key: string) => isEqualSecret(key, get(id)),
    replace: (id: string) => store.commit(() => numbers.put(id, numberOf(id) + 1)),
    /** Only inside a commit. */
    removeWithin: (id: string) => numbers.remove(id),
  }
}
