// Whether a host points to this server: decided by the responses of its addresses, explained by the
// server's own addresses.
import { deepEqual, equal, match } from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { isPublicAddress } from '../../../src/address-classes.ts'
import { checkHost } from '../../../src/effects/certificate/check.ts'
import { type Echo, openInternet } from '../../../src/effects/certificate/internet.ts'
import type { CertificateEdge } from '../../../src/effects/certificate/order.ts'
import { startNameServer } from '../../support/edge/name-server.ts'

const host = 'shop.example.com'
const path = '/.well-known/acme-challenge/token'
const public4 = '203.0.113.10'
const public6 = '2001:db8::10'
const other4 = '203.0.113.99'
const other6 = '2001:db8::99'

const matching: Echo = { kind: 'match' }
const another: Echo = { kind: 'other', status: 404 }
const silence: Echo = { kind: 'silent', reason: 'connect ECONNREFUSED' }

interface World {
  addresses: Record<string, Echo>
  own: string[]
}

/** The result of the check in that world, and the addresses that were queried. */
async function judge({ addresses, own }: World, edge: Partial<CertificateEdge> = {}) {
  const lookups: string[] = []
  const up = new Set<string>()
  const internet = {
    addressesOf: async () => Object.keys(addresses),
    ownAddresses: () => ['127.0.0.1', '::1', ...own],
    echo: async ({ address }: { address: string }) => {
      lookups.push(address)
      return addresses[address]!
    },
  }
  const real: CertificateEdge = {
    putChallenge: async (token) => void up.add(token),
    dropChallenge: (token) => void up.delete(token),
    changeCertificates: async () => undefined,
  }
  const problem = await checkHost(
    { edge: { ...real, ...edge }, internet },
    host,
    new AbortController().signal,
  )
  equal(up.size, 0)
  return { asked: lookups, said: problem && [problem.code, problem.message, problem.hint] }
}

const toHere = `set the A (or AAAA) record of ${host} to ${public4}`
const toPublic = `set the A (or AAAA) record of ${host} to the public address of this server`
const atPort = 'the CA connects to port 80: check --http-port and port forwarding'

const strangers = ['10.0.0.9', '169.254.169.254', 'fd00::9']
  .map((address) => `the private address ${address}`)
  .join(' and ')

const worlds: Record<string, World & { said: [string, string, string] | null; lookups?: string[] }> = {
  'whose address answers': { addresses: { [public4]: matching }, own: [public4], said: null },
  'behind NAT, or behind a proxy that passes it on': {
    addresses: { [other4]: matching },
    own: ['10.0.0.7'],
    said: null,
  },
  'with an address in both families': {
    addresses: { [public4]: matching, [public6]: matching },
    own: [public4, public6],
    said: null,
  },
  'whose IPv6 cannot be tried from here': {
    addresses: { [public4]: matching, [public6]: silence },
    own: [public4],
    said: null,
  },
  'behind a router without hairpin NAT': {
    addresses: { [other4]: silence },
    own: ['192.168.1.7'],
    said: null,
  },
  'that points elsewhere': {
    addresses: { [other4]: another },
    own: [public4],
    said: ['host_elsewhere', `${host} points to ${other4}, not to this server`, toHere],
  },
  'that points to an unresponsive address': {
    addresses: { [other4]: silence },
    own: [public4],
    said: ['host_elsewhere', `${host} points to ${other4}, not to this server`, toHere],
  },
  'whose former IPv6 address was forgotten': {
    addresses: { [public4]: matching, [other6]: another },
    own: [public4],
    said: ['host_elsewhere', `${host} also points to ${other6}, not to this server`, toHere],
  },
  'that is split between two servers': {
    addresses: { [other4]: another, [other6]: another },
    own: ['10.0.0.7'],
    said: ['host_elsewhere', `${host} points to ${other4} and ${other6}, not to this server`, toPublic],
  },
  'that points here, where something else has the port': {
    addresses: { [public4]: another },
    own: [public4],
    said: [
      'host_unreachable',
      `${host} points to ${public4}, which is this server, but not to its edge: another program responds`,
      atPort,
    ],
  },
  'that points here, without a listener': {
    addresses: { [public4]: silence },
    own: [public4],
    said: [
      'host_unreachable',
      `${host} points to ${public4}, which is this server, but not to its edge: connect ECONNREFUSED`,
      atPort,
    ],
  },
  'that points to a private address, which gets no request': {
    addresses: { '10.0.0.9': matching, '169.254.169.254': matching, 'fd00::9': matching },
    own: ['10.0.0.7'],
    lookups: [],
    said: ['host_elsewhere', `${host} points to ${strangers}, not to this server`, toPublic],
  },
  'that points to everybody’s own loopback': {
    addresses: { '127.0.0.1': matching },
    own: [public4],
    lookups: [],
    said: ['host_elsewhere', `${host} points to the private address 127.0.0.1, not to this server`, toHere],
  },
  'without an address': {
    addresses: {},
    own: [public4],
    said: ['host_unknown', `${host} has no address in DNS`, toHere],
  },
}

for (const [name, { said, lookups, ...world }] of Object.entries(worlds)) {
  test(`a host ${name} ${said ? `waits with the reason: ${said[0]}` : 'goes to the CA'}`, async () => {
    deepEqual(await judge(world), { said, asked: lookups ?? Object.keys(world.addresses) })
  })
}

test('of a name with very many addresses only some are checked', async () => {
  const many = Array.from({ length: 200 }, (_, number) => [`198.51.100.${number}`, another] as const)
  const { asked: lookups } = await judge({ addresses: Object.fromEntries(many), own: [public4] })
  equal(lookups.length, 16)
})

test('an unavailable edge is the reason, and no request is sent', async () => {
  const putChallenge = () => Promise.reject(new Error('HAProxy is starting'))
  const { asked: lookups, said } = await judge(
    { addresses: { [public4]: matching }, own: [public4] },
    { putChallenge },
  )
  deepEqual(
    [lookups, said],
    [[], ['edge_away', 'the edge cannot respond to a CA now: HAProxy is starting', null]],
  )
})

test('addresses that are valid only in a private network are private', () => {
  const priv = [
    '10.1.2.3',
    '172.16.0.1',
    '192.168.0.1',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '0.0.0.0',
  ]
  for (const address of [...priv, '224.0.0.1', '::1', '::', 'fd00::1', 'fe80::1', 'ff02::1']) {
    equal(isPublicAddress(address), false, address)
  }
  for (const address of ['203.0.113.7', '172.32.0.1', '100.128.0.1', '1.1.1.1', '2606:4700::1111']) {
    equal(isPublicAddress(address), true, address)
  }
})

test('names are resolved by the name servers in both families; a missing name has no address', async (t) => {
  const names = await startNameServer(t)
  names.hosts.set(host, [public4, public6])
  names.hosts.set('empty.example.com', [])
  const { addressesOf } = openInternet({ nameServers: [names.address] })

  deepEqual(await addressesOf(host), [public4, public6])
  deepEqual(await addressesOf('empty.example.com'), [])
  deepEqual(await addressesOf('nobody.example.com'), [])
  deepEqual(await addressesOf('localhost'), [])
})

/** The echo of a server that responds like this. */
async function requestEcho(t: TestContext, response: RequestListener): Promise<Echo> {
  const server = createServer(response)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return openInternet({ port }).echo({ address: '127.0.0.1', host, path, answer: 'ours' })
}

test('only our own response to our own request is a match', async (t) => {
  deepEqual(
    await requestEcho(t, ({ url, headers }, response) =>
      response.end(url === path && headers.host === host ? 'ours' : ''),
    ),
    { kind: 'match' },
  )
  deepEqual(await requestEcho(t, (_, response) => response.end('theirs')), { kind: 'other', status: 200 })
  deepEqual(await requestEcho(t, (_, response) => response.writeHead(404).end('ours')), {
    kind: 'other',
    status: 404,
  })
  const moved = { location: 'http://169.254.169.254/' }
  deepEqual(await requestEcho(t, (_, response) => response.writeHead(301, moved).end()), {
    kind: 'other',
    status: 301,
  })
  const endless: RequestListener = (_, response) => {
    const writing = setInterval(() => response.write('x'.repeat(999)), 1)
    response.once('close', () => clearInterval(writing))
  }
  deepEqual(await requestEcho(t, endless), { kind: 'other', status: 200 })
})

test('a host that closes the connection or does not exist is silent', async (t) => {
  const left = await requestEcho(t, ({ socket }) => socket.destroy())
  equal(left.kind, 'silent')
  const { port } = await new Promise<AddressInfo>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address() as AddressInfo
      server.close(() => resolve(address))
    })
  })
  const gone = await openInternet({ port }).echo({ address: '127.0.0.1', host, path, answer: 'ours' })
  match(JSON.stringify(gone), /"silent".*ECONNREFUSED/)
})
