// HTTPS with a whole daemon: a new domain gets its certificate from a real CA through the edge, across
// restarts, and berthd needs only an e-mail address for it.
import { deepEqual, equal, fail, match } from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import type { Certificate } from '../../src/api/certificate.ts'
import { openStorage } from '../../storage/index.ts'
import { startDaemon } from '../support/daemon/daemon.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { until } from '../support/daemon/service.ts'
import { openCa, serverAddress, withCa } from '../support/edge/ca.ts'
import { endHostEdge } from '../support/edge/edge.ts'
import { startNameServer } from '../support/edge/name-server.ts'
import { requestAt } from '../support/edge/running-edge.ts'
import { installPackages } from '../support/system/apt.ts'
import { hasCommand, run } from '../support/system/command.ts'
import { isInside } from '../support/system/namespace.ts'

if (!isInside && !hasCommand('haproxy')) await installPackages(['haproxy'])
const host = 'shop.example.com'
const test = await withCa(import.meta.url)
const ca = isInside ? await openCa() : ({} as never)
if (isInside) await beTheNameServer()
const ask = requestAt(80)

/** The daemon queries the system's name servers, which in the namespace belong to the test. */
async function beTheNameServer(): Promise<void> {
  await ca.freePort()
  const { hosts } = await startNameServer(fileScope(), 53)
  hosts.set(host, [serverAddress])
  hosts.set('berth.example.com', [serverAddress])
  ca.names.hosts = hosts
  const file = join(process.env.PREPARED!, 'resolv.conf')
  writeFileSync(file, 'nameserver 127.0.0.1\n')
  await run('mount', ['--bind', file, '/etc/resolv.conf'])
}

/** The certificate that the edge presents for a host. */
function servedCertificate(servername: string): Promise<X509Certificate> {
  return new Promise((resolve, reject) => {
    const place = { host: serverAddress, port: 443, servername, rejectUnauthorized: false }
    const socket = connect(place, () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw))
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

/** Written as by a deploy's transition, because there is no engine in this network. */
async function goLive(dataDir: string, id: string): Promise<void> {
  const storage = await openStorage(dataDir, { onPanic: fail })
  await storage.services.update(id, (row) => ({ ...row, live_deploy_id: 'dep-1' }))
  await storage.close()
}

test('a domain and the dashboard get certificates, and a restart keeps both', async (t) => {
  const ports = ['--edge=host', '--http-port=80', '--https-port=443']
  const acme = ['--acme-email=ada@example.com', `--acme-directory=${ca.pebble.directoryUrl}`]
  const daemon = await startDaemon(t, { args: [...ports, ...acme, '--dashboard-host=berth.example.com'] })
  t.after(() => endHostEdge(daemon.dataDir))
  const certificates = async (): Promise<Certificate[]> => daemon.api.get('/certificates')
  const areValid = async () => {
    const rows = await certificates()
    return rows.length === 2 && rows.every(({ status, phase }) => status === 'valid' && phase === null)
  }

  const { id } = await daemon.api.post('/services', { name: 'shop', deploy: false })
  await daemon.api.post(`/services/${id}/domains`, { domain: host })
  await until('the certificate of the dashboard', async () => {
    const rows = await certificates()
    return rows.length === 1 && rows[0]!.status === 'valid'
  })
  await daemon.stop()
  await goLive(daemon.dataDir, id)
  await daemon.start()
  await until('two certificates', areValid)

  equal((await servedCertificate(host)).subjectAltName, `DNS:${host}`)
  const shop = await ask(host, '/cart')
  match(`${shop.status} ${shop.headers.location}`, /^30\d https:\/\/shop\.example\.com\/cart$/)
  deepEqual(
    (await certificates()).map((row) => [row.host, row.service_id]),
    [
      ['berth.example.com', null],
      [host, id],
    ],
  )
  const [domain] = (await daemon.api.get(`/services/${id}/domains`)).filter(
    (one: { domain: string }) => one.domain === host,
  )
  deepEqual([domain.url, domain.https, domain.certificate.status], [`https://${host}`, true, 'valid'])
  const { serialNumber } = await servedCertificate(host)

  await daemon.kill()
  equal((await servedCertificate(host)).serialNumber, serialNumber)
  await daemon.start()
  await until('the certificates again', areValid)
  equal((await servedCertificate(host)).serialNumber, serialNumber)

  await daemon.api.call('DELETE', `/services/${id}`)
  await until('the certificate to go with its service', async () => (await certificates()).length === 1)
})
