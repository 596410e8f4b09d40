// The internet as this server sees it: DNS, its own addresses, and the responses at an address. Names are
// resolved by name servers only, because a CA does not see /etc/hosts.
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { networkInterfaces } from 'node:os'
import { codeOf, messageOf } from '../../errors.ts'
import { duration } from '../../quantities.ts'

/** The response of an address to a probe. Its content is untrusted, and only compared. */
export type Echo = { kind: 'match' } | { kind: 'other'; status: number } | { kind: 'silent'; reason: string }

export interface Internet {
  /** The A and AAAA records; empty if the name does not exist. Throws when no name server responds. */
  addressesOf(host: string): Promise<string[]>
  ownAddresses(): string[]
  /** Requests that path of the host from the address. Follows no redirect. */
  echo(wanted: { address: string; host: string; path: string; answer: string }): Promise<Echo>
}

export interface InternetOptions {
  /** `address:port`; by default the name servers of the system. */
  nameServers?: string[]
  port?: number
}

const echoMs = 10_000
const missingRecordCodes = new Set(['ENOTFOUND', 'ENODATA'])

export function openInternet({ nameServers, port = 80 }: InternetOptions = {}): Internet {
  return {
    async addressesOf(host) {
      const resolver = new Resolver({ timeout: 3000, tries: 2 })
      if (nameServers) resolver.setServers(nameServers)
      return resolveBothFamilies(resolver, host)
    },

    ownAddresses: () =>
      Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address)),

    async echo({ address, host, path, answer }) {
      const late = AbortSignal.timeout(echoMs)
      const headers = { host, 'user-agent': 'berth' }
      const asking = request({ host: address, port, path, headers, agent: false, signal: late })
      // An error may follow the response that is enough.
      asking.on('error', () => undefined)
      try {
        const [response] = (await once(asking.end(), 'response')) as [IncomingMessage]
        const { statusCode: status = 0 } = response
        let text = ''
        for await (const chunk of response.setEncoding('utf8')) {
          text += chunk
          if (text.length > 4 * answer.length) break
        }
        return status === 200 && text.trim() === answer ? { kind: 'match' } : { kind: 'other', status }
      } catch (error) {
        const reason = late.aborted ? `no response within ${duration(echoMs)}` : messageOf(error)
        return { kind: 'silent', reason }
      }
    },
  }
}

async function resolveBothFamilies(resolver: Resolver, host: string): Promise<string[]> {
  const both = [resolver.resolve4(host), resolver.resolve6(host)].map((query) =>
    query.catch((error: unknown) => {
      if (missingRecordCodes.has(codeOf(error))) return []
      throw error
    }),
  )
  const outcomes = await Promise.allSettled(both)
  const addresses = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []))
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (addresses.length === 0 && failed) throw failed.reason
  return addresses
}
