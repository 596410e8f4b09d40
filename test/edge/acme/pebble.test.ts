// The ACME client against a real CA (Pebble), in a network of its own where port 80 is the test's.
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { issueCertificate, type OrderRequest, type PendingOrder } from '../../../src/edge/acme/order.ts'
import { createAccountKey } from '../../../src/edge/acme/session.ts'
import { openCa, otherAddress, serverAddress, withCa } from '../../support/edge/ca.ts'
import { isInside } from '../../support/system/namespace.ts'

const test = await withCa(import.meta.url)
const { names, edge, pebble } = isInside ? await openCa() : ({} as never)
const key = await createAccountKey()
const timeout = () => AbortSignal.timeout(60_000)

function order(host: string, changes: Partial<OrderRequest> = {}): OrderRequest {
  return {
    account: { directoryUrl: pebble.directoryUrl, email: 'ada@example.com', key },
    host,
    challenges: edge,
    pending: null,
    onPending: () => undefined,
    ...changes,
  }
}

const leafOf = (pem: string) => new X509Certificate(pem.slice(pem.indexOf('-----BEGIN CERTIFICATE')))

test('a host that points here gets a certificate: key, chain and no blank line', async () => {
  names.hosts.set('shop.example.com', [serverAddress])

  const { pem, notBefore, notAfter } = await issueCertificate(order('shop.example.com'), timeout())

  const blocks = [...pem.matchAll(/-----BEGIN ([A-Z ]+)-----/g)].map(([, label]) => label)
  assert.deepEqual(blocks, ['PRIVATE KEY', 'CERTIFICATE', 'CERTIFICATE'])
  assert.doesNotMatch(pem, /\n\s*\n/)
  const leaf = leafOf(pem)
  assert.deepEqual([leaf.subjectAltName, leaf.publicKey.asymmetricKeyType], ['DNS:shop.example.com', 'ec'])
  assert.deepEqual(
    [notBefore, notAfter],
    [leaf.validFrom, leaf.validTo].map((instant) => new Date(instant).toISOString()),
  )
  assert.equal(edge.answers.size, 0)
})

test('a CA that rejects half of the nonces gets the same requests again', async () => {
  names.hosts.set('nonces.example.com', [serverAddress])
  await pebble.restart({ PEBBLE_WFE_NONCEREJECT: '50' })
  try {
    const { pem } = await issueCertificate(order('nonces.example.com'), timeout())
    assert.equal(leafOf(pem).subjectAltName, 'DNS:nonces.example.com')
  } finally {
    await pebble.restart()
  }
})

test('a pending order is resumed, not repeated', async () => {
  names.hosts.set('pending.example.com', [serverAddress])
  let pending: PendingOrder | null = null
  const onPending = (order: PendingOrder) => {
    pending = order
  }
  const first = await issueCertificate(order('pending.example.com', { onPending }), timeout())
  const view = edge.shown.length

  const again = await issueCertificate(order('pending.example.com', { pending }), timeout())

  assert.equal(again.pem, first.pem)
  assert.equal(edge.shown.length, view)
})

test('a failed order, or one that the CA does not know, is placed again', async () => {
  names.hosts.set('again.example.com', [serverAddress])
  const orders: PendingOrder[] = []
  const cut = new AbortController()
  const onPending = (order: PendingOrder) => {
    orders.push(order)
    cut.abort(new Error('cut off before the CA heard of the key'))
  }
  await assert.rejects(issueCertificate(order('again.example.com', { onPending }), cut.signal), /cut off/)
  const foreign = { url: pebble.directoryUrl.replace('/dir', '/my-order/nobody'), keyPem: '' }

  for (const pending of [orders[0]!, foreign]) {
    const { pem } = await issueCertificate(order('again.example.com', { pending }), timeout())
    assert.equal(leafOf(pem).subjectAltName, 'DNS:again.example.com')
  }
})

test('a host that points elsewhere is refused by the CA, and the challenge is removed', async () => {
  names.hosts.set('elsewhere.example.com', [otherAddress])

  await assert.rejects(issueCertificate(order('elsewhere.example.com'), timeout()), (error: never) => {
    const { code, message } = error as { code: string; message: string }
    assert.equal(code, 'acme_challenge_failed')
    assert.match(message, /^the CA could not check elsewhere\.example\.com: .*404/)
    return true
  })
  assert.equal(edge.answers.size, 0)
})

test('a host without an address fails its challenge, and the hint names what to check', async () => {
  await assert.rejects(issueCertificate(order('nowhere.example.com'), timeout()), {
    code: 'acme_challenge_failed',
    hint: 'port 80 of this server must be reachable from the internet',
  })
})
