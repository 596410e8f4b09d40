// Certificates end to end: a real CA validates through a real HAProxy, which serves the certificates and
// their renewals.
import { equal, match, notEqual } from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { Driver } from '../../../src/edge/driver.ts'
import { openEdgeFiles } from '../../../src/edge/files.ts'
import { openHostProcess, workerUser } from '../../../src/edge/host-process.ts'
import { HaproxyEdge } from '../../../src/effects/edge/haproxy-edge.ts'
import type { Storage } from '../../../storage/index.ts'
import { until as untilTrue } from '../../support/daemon/service.ts'
import { openCa, serverAddress, withCa } from '../../support/edge/ca.ts'
import { requestAt } from '../../support/edge/running-edge.ts'
import { servedCertificate } from '../../support/edge/served-certificate.ts'
import { issueTestCertificate } from '../../support/edge/test-certificate.ts'
import { boot, isValid, openLife } from '../../support/effects/certificates.ts'
import { temporaryStorage } from '../../support/supervisor/supervision.ts'
import { installPackages } from '../../support/system/apt.ts'
import { hasCommand } from '../../support/system/command.ts'
import { isInside } from '../../support/system/namespace.ts'

if (!isInside && !hasCommand('haproxy')) await installPackages(['haproxy'])
const test = await withCa(import.meta.url)
const ca = isInside ? await openCa() : ({} as never)
if (isInside) await ca.freePort()
const ask = requestAt(80)

/** HAProxy at ports 80 and 443, kept equal to the storage. */
async function startEdge(storage: Storage) {
  const files = openEdgeFiles(storage.directory)
  const limits = { connections: 1000, connectionsPerAddress: 0, requestsPerAddress: 0 }
  const common = { hasIpv6: false, socketOwner: null, worker: workerUser() }
  const frame = { ...common, trustedProxies: [], dashboard: null, limits, ownHost: 'own.invalid', pools: 4 }
  const driver = new Driver(files, { httpPort: 80, httpsPort: 443, ...frame })
  const settings = { baseDomain: 'localhost' }
  const edge = new HaproxyEdge({
    storage,
    settings,
    files,
    driver,
    routeSources: { dashboardHost: null },
    certificates: () => storage.certificates.pems(),
    accessLog: { recordAccess: () => undefined, newest: async () => null },
    publicPorts: { httpPort: 80, httpsPort: 443, ...frame },
    unavailableReason: () => 'it is unavailable',
  })
  const haproxy = openHostProcess(files)
  const over = new AbortController()
  await edge.render()
  await haproxy.ensure(over.signal)
  const rounds = (async () => {
    while (!over.signal.aborted) {
      await edge.round()
      await edge.next(2000, over.signal)
    }
  })().catch(() => undefined)
  const stop = async () => {
    over.abort()
    await rounds
    await haproxy.stop()
  }
  return { edge, driver, haproxy, stop }
}

async function start(t: TestContext) {
  // HAProxy must end before its files are removed.
  let end: () => Promise<void> = async () => undefined
  t.after(() => end())
  const storage = await temporaryStorage(t)
  const { edge, driver, haproxy, stop } = await startEdge(storage)
  end = stop
  const life = await openLife(t, ca, { storage, edge })
  return { ...boot(t, life, ca), driver, haproxy, storage, edge }
}

const shows = (host: string, subjectAltName: string) =>
  untilTrue(`${host} to be shown ${subjectAltName}`, async () => {
    return (await servedCertificate(host)).subjectAltName === subjectAltName
  })

test('a host gets its certificate through the edge, and is redirected to https from then on', async (t) => {
  const { route, until } = await start(t)
  const host = 'edge.example.com'
  ca.names.hosts.set(host, [serverAddress])

  await route('svc-1', host, 'edge.lan')
  await until(host, 'valid', isValid)

  equal((await servedCertificate(host)).subjectAltName, `DNS:${host}`)
  const led = await ask(host, '/cart?id=1')
  match(String(led.status), /^30[1278]$/)
  equal(led.headers.location, `https://${host}/cart?id=1`)
  equal((await ask('edge.lan')).status, 503)
  equal((await ask(host, '/.well-known/acme-challenge/unknown-token')).status !== 200, true)
})

test('a renewed certificate is served by the same process, and a dropped one is not served', async (t) => {
  const { route, until, driver } = await start(t)
  const host = 'brief.example.com'
  ca.names.hosts.set(host, [serverAddress])
  await ca.pebble.restart({}, 12)
  t.after(() => ca.pebble.restart())
  await route('svc-1', host)
  const first = await until(host, 'valid', isValid)
  const before = await servedCertificate(host)
  const process = await driver.identify()

  await until(host, 'renewed', (row) => isValid(row) && row.not_after !== first.not_after)

  const after = await servedCertificate(host)
  notEqual(after.serialNumber, before.serialNumber)
  equal(await driver.identify(), process)
  await route('svc-1')
  await untilTrue(
    'another certificate',
    async () => (await servedCertificate(host)).subjectAltName !== `DNS:${host}`,
  )
  equal((await ask(host)).status, 404)
})

test('a wildcard certificate is served for the hosts below its domain, with an https redirect', async (t) => {
  const { storage, edge, route } = await start(t)
  const { chainPem, keyPem } = await issueTestCertificate(['*.example.com'])
  storage.certificates.put('*.example.com', `${keyPem}\n${chainPem}`.replace(/\n\s*\n/g, '\n'))
  await edge.changeCertificates(AbortSignal.timeout(60_000))
  await route('svc-1', 'any.example.com')

  await shows('any.example.com', 'DNS:*.example.com')
  await untilTrue('http to redirect to https', async () => {
    return (await ask('any.example.com', '/cart')).headers.location === 'https://any.example.com/cart'
  })
  storage.certificates.remove('*.example.com')
  await edge.changeCertificates(AbortSignal.timeout(60_000))
  notEqual((await servedCertificate('any.example.com')).subjectAltName, 'DNS:*.example.com')
})

test('a restarted edge serves the certificate again', async (t) => {
  const { route, until, haproxy } = await start(t)
  const host = 'back.example.com'
  ca.names.hosts.set(host, [serverAddress])
  await route('svc-1', host)
  await until(host, 'valid', isValid)

  await haproxy.stop()
  await haproxy.ensure(new AbortController().signal)

  await shows(host, `DNS:${host}`)
})
