// Checks that a host points to this server before a CA is asked, because CAs count failed attempts. The proof
// is this server's own response at each address of the name. The local interfaces only explain a failure:
// behind NAT or an internet proxy, they do not have the public address.
import { randomBytes } from 'node:crypto'
import type { CertificateProblem } from '../../../machines/certificate.ts'
import { isLoopback, isPublicAddress } from '../../address-classes.ts'
import { withTimeout } from '../../async/with-timeout.ts'
import { messageOf } from '../../errors.ts'
import type { Echo } from './internet.ts'
import type { CertificatePorts } from './order.ts'

type CheckPorts = Pick<CertificatePorts, 'edge' | 'internet'>

interface AddressResult {
  address: string
  isOurs: boolean
  echo: Echo
}

const edgeTimeoutMs = 15_000
const maxAddresses = 16

/** Null if an order may be sent: the host points to this server, or only the CA can find out. */
export async function checkHost(
  { edge, internet }: CheckPorts,
  host: string,
  signal: AbortSignal,
): Promise<CertificateProblem | null> {
  const addresses = await internet.addressesOf(host).catch((error: unknown) => messageOf(error))
  if (typeof addresses === 'string') {
    return toProblem('host_unknown', `cannot resolve ${host}: ${addresses}`, 'no name server responds')
  }
  const own = internet.ownAddresses()
  if (addresses.length === 0) {
    return toProblem('host_unknown', `${host} has no address in DNS`, addressHint(host, own))
  }
  const [token, answer] = [newToken(), newToken()]
  try {
    const failure = await withTimeout(edgeTimeoutMs, signal, (bounded) =>
      edge.putChallenge(token, answer, bounded),
    ).catch((error: unknown) => {
      signal.throwIfAborted()
      return toProblem('edge_away', `the edge cannot respond to a CA now: ${messageOf(error)}`, null)
    })
    if (failure) return failure
    const path = `/.well-known/acme-challenge/${token}`
    const requests = addresses.slice(0, maxAddresses).map(async (address): Promise<AddressResult> => {
      const isOurs = own.includes(address) && !isLoopback(address)
      const echo: Echo =
        isOurs || isPublicAddress(address)
          ? await internet.echo({ address, host, path, answer })
          : { kind: 'silent', reason: 'it is a private address' }
      return { address, isOurs, echo }
    })
    return evaluate(host, await Promise.all(requests), own)
  } finally {
    edge.dropChallenge(token)
  }
}

function evaluate(host: string, results: AddressResult[], own: string[]): CertificateProblem | null {
  const foreign = results.filter(({ address, isOurs, echo }) => {
    const isForeign = echo.kind === 'other' || (echo.kind === 'silent' && !isPublicAddress(address))
    return isForeign && !isOurs
  })
  if (foreign.length > 0) return pointsElsewhere(host, foreign, results.length, own)
  if (results.some(({ echo }) => echo.kind === 'match')) return null
  const ours = results.find(({ isOurs }) => isOurs)
  if (ours) return edgeUnreachable(host, ours)
  // Many routers do not route requests from inside back to their own public address, so no answer
  // proves nothing.
  return own.some(isPublicAddress) ? pointsElsewhere(host, results, results.length, own) : null
}

function pointsElsewhere(host: string, foreign: AddressResult[], count: number, own: string[]) {
  const list = foreign
    .map(({ address }) => (isPublicAddress(address) ? address : `the private address ${address}`))
    .join(' and ')
  const also = foreign.length < count ? ' also' : ''
  const message = `${host}${also} points to ${list}, not to this server`
  return toProblem('host_elsewhere', message, addressHint(host, own))
}

function edgeUnreachable(host: string, { address, echo }: AddressResult): CertificateProblem {
  const reason = echo.kind === 'silent' ? echo.reason : 'another program responds'
  const message = `${host} points to ${address}, which is this server, but not to its edge: ${reason}`
  const hint = 'the CA connects to port 80: check --http-port and port forwarding'
  return toProblem('host_unreachable', message, hint)
}

function addressHint(host: string, own: string[]): string {
  const address = own.find(isPublicAddress) ?? 'the public address of this server'
  return `set the A (or AAAA) record of ${host} to ${address}`
}

function toProblem(code: string, message: string, hint: string | null): CertificateProblem {
  return { code, message, hint, retryAt: null }
}

function newToken(): string {
  return randomBytes(24).toString('base64url')
}
