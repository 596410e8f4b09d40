// What the edge accepts of TLS: Mozilla's intermediate list, for certificates with ECDSA and with RSA keys.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type ConnectionOptions, connect } from 'node:tls'
import { routesTo } from '../support/edge/edge-routes.ts'
import { startEdge } from '../support/edge/running-edge.ts'
import { issueTestCertificate, rsa } from '../support/edge/test-certificate.ts'

const hosts = { ECDSA: 'ecdsa.test', RSA: 'rsa.test' } as const

async function startWithBoth(t: TestContext): Promise<(options: ConnectionOptions) => Promise<string>> {
  const edge = await startEdge(t)
  const issued = [
    { host: hosts.ECDSA, ...(await issueTestCertificate([hosts.ECDSA])) },
    { host: hosts.RSA, ...(await issueTestCertificate([hosts.RSA], undefined, rsa)) },
  ]
  const certificates = issued.map(({ host, keyPem, chainPem }) => {
    return { host, pem: `${keyPem}${chainPem}`.replace(/\n+/g, '\n') }
  })
  assert.deepEqual(await edge.driver.apply({ ...routesTo({}), certificates }), [])
  return (options) => shakeHands(edge.frame.httpsPort, options)
}

/** Returns the agreed version, cipher and key of the certificate, or the code of the refusal. */
function shakeHands(port: number, options: ConnectionOptions): Promise<string> {
  return new Promise((resolve) => {
    // Level 0 allows the client to offer what current programs refuse by themselves.
    const ciphers = `${options.ciphers ?? 'ALL'}:@SECLEVEL=0`
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options, ciphers })
    socket.once('secureConnect', () => {
      const key = socket.getPeerX509Certificate()?.publicKey.asymmetricKeyType
      resolve(`${socket.getProtocol()} ${socket.getCipher().name} ${key}`)
      socket.destroy()
    })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  })
}

const bulk = ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305']
const keyTypes = { ECDSA: 'ec', RSA: 'rsa' }

test('each listed cipher works with TLS 1.2, for both kinds of certificates', async (t) => {
  const offer = await startWithBoth(t)
  for (const kind of ['ECDSA', 'RSA'] as const) {
    for (const cipher of bulk.map((name) => `ECDHE-${kind}-${name}`)) {
      const found = await offer({ servername: hosts[kind], maxVersion: 'TLSv1.2', ciphers: cipher })
      assert.equal(found, `TLSv1.2 ${cipher} ${keyTypes[kind]}`)
    }
  }
})

test('TLS 1.3 works with each of its ciphers and each listed curve', async (t) => {
  const offer = await startWithBoth(t)
  for (const cipher of ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256']) {
    for (const ecdhCurve of ['X25519', 'prime256v1', 'secp384r1']) {
      const found = await offer({
        servername: hosts.RSA,
        minVersion: 'TLSv1.3',
        // Node refuses a list without any cipher of TLS 1.2.
        ciphers: `${cipher}:ALL`,
        ecdhCurve,
      })
      assert.equal(found, `TLSv1.3 ${cipher} rsa`)
    }
  }
})

test('CBC, SHA-1, no forward secrecy, older versions and other curves are refused', async (t) => {
  const offer = await startWithBoth(t)
  const refused = [
    'ECDHE-ECDSA-AES128-SHA',
    'ECDHE-ECDSA-AES256-SHA',
    'ECDHE-ECDSA-AES128-SHA256',
    'ECDHE-RSA-AES128-SHA',
    'ECDHE-RSA-AES256-SHA384',
    'AES128-GCM-SHA256',
    'AES256-SHA',
  ]
  for (const ciphers of refused) {
    const servername = ciphers.includes('ECDSA') ? hosts.ECDSA : hosts.RSA
    const found = await offer({ servername, maxVersion: 'TLSv1.2', ciphers })
    assert.equal(found, 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', ciphers)
  }
  const old = await offer({ servername: hosts.ECDSA, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' })
  assert.equal(old, 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION')
  const curve = await offer({ servername: hosts.ECDSA, ecdhCurve: 'secp521r1' })
  assert.match(curve, /^ERR_SSL_.*HANDSHAKE_FAILURE$/)
})
