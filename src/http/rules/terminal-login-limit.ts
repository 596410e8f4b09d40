// Limits how many terminal logins are requested, because anyone can request one. Who has used up a rate is
// rejected, and no request ends another one. The start code of the account page has a rate of its own.
import { isIPv4, isIPv6 } from 'node:net'
import type { Rate } from '../../account/terminal-logins.ts'
import { wordsOf } from '../../address-classes.ts'
import { Failure, RetryLater } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'

/** Throws `too_many_attempts`, `invalid_start_code`. */
export function takeTerminalLogin(
  { terminalLogins: { rates, startCode } }: HttpContext,
  address: string,
  typedCode: string | null,
): void {
  if (typedCode === null) {
    const hint = 'the start code on the page /account works at once: berth login URL --code CODE'
    const network = networkOf(address)
    assertAvailable(rates.network, network, 'too many terminal logins from this network', hint)
    assertAvailable(rates.all, 'all', 'too many terminal logins at the moment', hint)
    rates.network.take(network)
    rates.all.take('all')
    return
  }
  const client = clientOf(address)
  const hint = 'a token of the page /account needs no login: berth login URL --token-file FILE'
  // Not even the right code is accepted then: the response would tell whether a guess is right.
  assertAvailable(rates.wrongCode, client, 'too many wrong start codes from this address', hint)
  if (!startCode.matches(typedCode)) {
    rates.wrongCode.take(client)
    const now = 'it changes every ten minutes: the page /account shows the current one'
    throw new Failure('invalid_start_code', 'this is not the start code of this server', now)
  }
  assertAvailable(rates.withCode, 'all', 'too many terminal logins with a start code', hint)
  rates.withCode.take('all')
}

function assertAvailable(rate: Rate, key: string, message: string, hint: string): void {
  const waitMs = rate.waitMs(key)
  if (waitMs > 0) throw new RetryLater('too_many_attempts', message, Math.ceil(waitMs / 1000), hint)
}

/** The /24 of an IPv4 address, the /48 of an IPv6 address; any other text unchanged. */
export function networkOf(address: string): string {
  return blockOf(address, { ipv4Bytes: 3, ipv6Groups: 3 })
}

/** The IPv4 address, or the /64 of an IPv6 address; any other text unchanged. */
export function clientOf(address: string): string {
  return blockOf(address, { ipv4Bytes: 4, ipv6Groups: 4 })
}

interface BlockSize {
  ipv4Bytes: number
  ipv6Groups: number
}

/** An IPv4 address may be inside an IPv6 one, `::ffff:192.0.2.1` or `::ffff:c000:201`. */
function blockOf(address: string, { ipv4Bytes, ipv6Groups }: BlockSize): string {
  const words = isIPv6(address) ? wordsOf(address) : null
  const isMapped = words?.slice(0, 6).join() === '0,0,0,0,0,65535'
  const bytes = isMapped ? words!.slice(6).flatMap((word) => [word >> 8, word & 255]) : address.split('.')
  if (isMapped || isIPv4(address)) return `${bytes.slice(0, ipv4Bytes).join('.')}/${ipv4Bytes * 8}`
  if (!words) return address
  const groups = words.slice(0, ipv6Groups).map((word) => word.toString(16))
  return `${groups.join(':')}::/${ipv6Groups * 16}`
}
