// Limits how many terminal logins are requested, because anyone can request one. Who has used up a rate is
// rejected, and no request ends another one. The start code of the account page has a rate of its own.
import type { Rate } from '../../account/rate.ts'
import { Failure, RetryLater } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { clientOf, networkOf } from '../server/address-block.ts'

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
