// Notices API tokens that are used from a new address. A request reads memory only, once its token and
// address were seen together.
import { isIPv6 } from 'node:net'
import type { Commit } from '../../../storage/store/store.ts'
import type { Caller } from '../../account/callers.ts'
import { messageOf } from '../../errors.ts'
import { isoNow } from '../iso-now.ts'
import type { SharedPorts } from '../ports.ts'
import type { AlertBook } from './book.ts'

const maxRemembered = 10_000
const fadesAfterMs = 24 * 60 * 60_000

export class TokenAddresses {
  readonly #ports: SharedPorts
  readonly #book: AlertBook
  readonly #seen = new Set<string>()

  constructor(ports: SharedPorts, book: AlertBook) {
    this.#ports = ports
    this.#book = book
  }

  /** Not awaited by requests: an alert must not delay them. */
  note({ kind, id }: Pick<Caller, 'kind' | 'id'>, client: string): void {
    if (kind !== 'token') return
    const address = networkOf(client)
    const key = `${id} ${address}`
    if (this.#seen.has(key)) return
    if (this.#seen.size >= maxRemembered) this.#seen.clear()
    this.#seen.add(key)
    this.#look(id, address).catch((error: unknown) => {
      this.#seen.delete(key)
      this.#ports.logger.warn({ reason: messageOf(error) }, 'the address of a token cannot be stored')
    })
  }

  async #look(id: string, address: string): Promise<void> {
    const { alerts, tokens, commit } = this.#ports.storage
    const known = alerts.addressesOf(id)
    if (known.includes(address)) return
    if (known.length === 0) return commit((write) => alerts.addAddress(write, id, address))
    const name = tokens.byId(id)?.name ?? 'server token'
    const body = `The address is ${address}. If you do not know it, revoke the token on the page /account.`
    const title = `The token ${name} was used from a new address`
    const also = (write: Commit) => alerts.addAddress(write, id, address)
    const about = { subject: { kind: 'token', id, name }, serviceId: null, link: '/account' }
    const facts = { rule: 'token_new_address' as const, at: isoNow(), number: null, title, body }
    await this.#book.enter([{ isBroken: true, ...facts, ...about, fadesAfterMs, also }])
  }
}

/** Clients change the second half of an IPv6 address at will. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::')) return address
  const [head = '', tail] = address.split('::') as [string, string?]
  const parts = head.split(':')
  const isShort = tail !== undefined && parts.length < 4
  return `${(isShort ? [...parts, '', '', ''] : parts)
    .slice(0, 4)
    .map((part) => part || '0')
    .join(':')}::/64`
}
