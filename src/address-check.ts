// An address that people enter is input: no request is sent to the internal services of a cloud, whatever
// its name resolves to. A service on this host or in its network is fine.
import { type LookupAddress, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { isInternal, plainAddress } from './address-classes.ts'
import { invalidRequest } from './errors.ts'

export function refuseInternalHost(url: string): void {
  const { hostname } = new URL(url)
  const literal = plainAddress(hostname)
  if (literal !== null) assertAllowed(hostname, literal)
}

/** Checks the addresses of the very lookup that the connection uses. `check` throws for a refused one. */
export function checkedLookup(check: (name: string, address: string) => void): LookupFunction {
  return (name, options, callback) => {
    lookup(name, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return callback(error, [])
      try {
        for (const { address } of addresses) check(name, address)
      } catch (refusal) {
        return callback(refusal as NodeJS.ErrnoException, [])
      }
      if (options.all) return callback(null, addresses)
      callback(null, addresses[0]!.address, addresses[0]!.family)
    })
  }
}

export const lookupPublicOrPrivate = checkedLookup(assertAllowed)

export function assertAllowed(name: string, address: string): void {
  if (!isInternal(address)) return
  throw invalidRequest(
    `${name} is, or resolves to, a link-local or metadata address, to which nothing is sent`,
  )
}
