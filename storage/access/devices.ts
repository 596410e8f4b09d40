// Device cookies: sealed proof that a browser has signed in before. They grant no access; they only give the
// browser its own sign-in limit. A new password invalidates all of them.

import type { Sealer } from '../secrets.ts'
import type { AccountRow } from './account.ts'
import { hashSecret } from './hashed-tokens.ts'

type Owner = Pick<AccountRow, 'id' | 'password_hash'>

const row = 'device'

export function openDevices(sealer: Sealer) {
  return {
    seal: (id: string, owner: Owner): string => sealer.seal(`${id} ${markOf(owner)}`, row),
    /** The id of the device; null for a value that this server did not seal for this account and password. */
    open(value: string, owner: Owner): string | null {
      const [id = '', mark] = openSealed(sealer, value).split(' ')
      return mark === markOf(owner) ? id : null
    },
  }
}

function openSealed(sealer: Sealer, value: string): string {
  try {
    return sealer.open(value, row)
  } catch {
    return ''
  }
}

function markOf({ id, password_hash }: Owner): string {
  return hashSecret(`${id} ${password_hash}`)
}
