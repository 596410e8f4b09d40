// Checks that a host points to this server before a CA is asked, because CAs count failed attempts. The proof
// is this server's own response at each address of the name. The local interfaces only explain a failure:
// behind NAT or an internet proxy, they do not have the public address.
import { randomBytes } from 'node:crypto'
import type { CertificateTrouble } from '../../../machines/certificate/certificate.ts'
import { isLoopback, isPublicAddress } from '../../address-classes.ts'
import { withTimeout } from '../../async/with-timeout.ts'
import { messageOf } from '../../errors.ts'
import type { Echo, Internet } from './internet.ts'
import type { CertificatePorts } from './ports.ts'

type Checked = Pick<CertificatePorts, 'edge' | 'internet'>

interface Asked {
  address: string
  isOurs: boolean
  echo: Echo
}

const edgeMs = 15_000
const mostAddresses = 16

/** Null if an order may be sent: the host points to this server, or only the CA can find out. */
export async function checkHost(
  { edge, internet }: Checked,
  host: string,
  signal: AbortSignal,
): Promise<CertificateTrouble | null> {
  const addresses = await internet.addressesOf(host).catch((error: unknown) => error as Error)
  if (addresses instanceof Error) return silentNames(host, messageOf(addresses))
  if (addresses.length === 0) return noAddress(host, internet)
  const [token, answer] = [newToken(), newToken()]
  try {
    const failure = await withTimeout(edgeMs, signal, (bounded) =>
      edge.putChallenge(token, answer, bounded),
    ).catch((error: unknown) => {
      signal.throwIfAborted()
      return edgeAway(messageOf(error))
    })
    if (failure) return failure
    const own = new Set(internet.ownAddresses())
    const path = `/.well-known/acme-challenge/${token}`
    const asking = addresses.slice(0, mostAddresses).map(async (address): Promise<Asked> => {
      const isOurs = own.has(address) && !isLoopback(address)
      const mayAsk = isOurs || isPublicAddress(address)
      const echo: Echo = mayAsk
        ? await internet.echo({ address, host, path, answer })
        : { kind: 'silent', reason: 'it is a private address' }
      return { address, isOurs, echo }
    })
    return judge(host, await Promise.all(asking), [...own])
  } finally {
    edge.dropChallenge(token)
  }
}

function judge(host: string, asked: Asked[], own: string[]): CertificateTrouble | null {
  const strangers = asked.filter(({ address, isOurs, echo }) => {
    const isForeign = echo.kind === 'other' || (echo.kind === 'silent' && !isPublicAddress(address))
    return isForeign && !isOurs
  })
  if (strangers.length > 0) return elsewhere(host, strangers, asked.length, own)
  if (asked.some(({ echo }) => echo.kind === 'match')) return null
  const ours = asked.find(({ isOurs }) => isOurs)
  if (ours) return deaf(host, ours)
  // Many routers do not route requests from inside back to their own public address, so no answer
  // proves nothing.
  return own.some(isPublicAddress) ? elsewhere(host, asked, asked.length, own) : null
}

function elsewhere(host: string, strangers: Asked[], count: number, own: string[]): CertificateTrouble {
  const list = strangers.map(({ address }) => named(address)).join(' and ')
  const also = strangers.length < count ? ' also' : ''
  return trouble(
    'host_elsewhere',
    `${host}${also} points to ${list}, not to this server`,
    addressHint(host, own),
  )
}

function named(address: string): string {
  return isPublicAddress(address) ? address : `the private address ${address}`
}

function deaf(host: string, { address, echo }: Asked): CertificateTrouble {
  const reason = echo.kind === 'silent' ? echo.reason : 'something else answers there'
  const message = `${host} points to ${address}, which is this server, but not to its edge: ${reason}`
  return trouble('host_unreachable', message, 'the CA asks at port 80: --http-port, or what forwards to it')
}

function noAddress(host: string, internet: Internet): CertificateTrouble {
  return trouble('host_unknown', `${host} has no address in DNS`, addressHint(host, internet.ownAddresses()))
}

function silentNames(host: string, reason: string): CertificateTrouble {
  return trouble('host_unknown', `cannot resolve ${host}: ${reason}`, 'no name server answers')
}

function edgeAway(reason: string): CertificateTrouble {
  return trouble('edge_away', `the edge cannot answer a CA now: ${reason}`, null)
}

function addressHint(host: string, own: string[]): string {
  const [address] = own.filter(isPublicAddress)
  return address
    ? `set the A (or AAAA) record of ${host} to ${address}`
    : `set the A (or AAAA) record of ${host} to the public address of this server`
}

function trouble(code: string, message: string, hint: string | null): CertificateTrouble {
  return { code, message, hint, retryAt: null }
}

function newToken(): string {
  return randomBytes(24).toString('base64url')
}
