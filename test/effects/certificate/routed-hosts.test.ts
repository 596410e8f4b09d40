// Which hosts need a certificate, with a wildcard and after its removal.
import { deepEqual } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createRoutedHosts } from '../../../src/effects/certificate/claims.ts'
import { issueTestCertificate } from '../../support/edge/test-certificate.ts'
import { serviceRow, transitionOf } from '../../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../../support/supervisor/supervision.ts'

const baseDomain = 'apps.example.com'
const wildcard = `*.${baseDomain}`
const shop = `shop.${baseDomain}`
const dashboard = `dash.${baseDomain}`

async function start(t: TestContext, dashboardHost: string | null = null) {
  const storage = await temporaryStorage(t)
  await storage.services.create(serviceRow({ id: 'svc-1', name: 'shop', live_deploy_id: 'dep-1' }))
  const edge = { mode: 'host' as const, httpPort: 80, httpsPort: 443, dashboardHost }
  const publication = { baseDomain, edge, hasCertificate: storage.certificates.covers }
  const certify = async (host: string, untilMs = Date.now() + 60 * 60_000) => {
    const notBefore = new Date(Date.now() - 2 * 60 * 60_000)
    const { keyPem, chainPem } = await issueTestCertificate([host], {
      notBefore,
      notAfter: new Date(untilMs),
    })
    storage.certificates.put(host, keyPem + chainPem)
  }
  const wildcardIs = (fields: object) => {
    const row = { id: 'crt-1', kind: 'certificate', service_id: null }
    const transition = transitionOf(row, { status: 'waiting' })
    const record = { ...transition.record, host: wildcard, ...fields }
    return storage.actors.create({ ...transition, record })
  }
  return {
    storage,
    certify,
    wildcardIs,
    ordered: createRoutedHosts(storage, publication, true),
    without: createRoutedHosts(storage, publication),
  }
}

test('a wildcard that is no longer ordered is kept while a host below it needs it', async (t) => {
  const { certify, without } = await start(t)
  deepEqual(without(null), [], 'there is no wildcard yet')
  await certify(wildcard)
  deepEqual([without(null), without('svc-1')], [[wildcard], [shop]])
  await certify(shop)
  deepEqual(without(null), [])
})

test('the host of the dashboard keeps the wildcard too', async (t) => {
  const { certify, without } = await start(t, dashboard)
  await certify(wildcard)
  await certify(shop)
  deepEqual(without(null), [dashboard, wildcard])
  await certify(dashboard)
  deepEqual(without(null), [dashboard])
})

test('an expired wildcard is not kept', async (t) => {
  const { certify, without } = await start(t)
  await certify(wildcard, Date.now() - 60_000)
  deepEqual(without(null), [])
})

test('services that order no certificate do not keep a wildcard', async (t) => {
  const { storage, certify, without } = await start(t)
  await certify(wildcard)
  await certify(shop)
  await storage.services.create(serviceRow({ id: 'svc-2', name: 'blog', live_deploy_id: null }))
  const elsewhere = ['www.example.org']
  await storage.services.update('svc-1', (row) => ({ ...row, custom_domains: elsewhere }))
  deepEqual(without(null), [])
  await storage.services.update('svc-2', (row) => ({ ...row, live_deploy_id: 'dep-2' }))
  deepEqual(without(null), [wildcard])
})

test('hosts of a wildcard that cannot be issued get their own certificates', async (t) => {
  const { certify, ordered, wildcardIs } = await start(t, dashboard)
  deepEqual([ordered(null), ordered('svc-1')], [[wildcard], []])
  await wildcardIs({ fallback: true })
  deepEqual([ordered(null), ordered('svc-1')], [[dashboard, wildcard], [shop]])
  await certify(wildcard)
  deepEqual([ordered(null), ordered('svc-1')], [[wildcard], []])
})

test('hosts of a wildcard that is only waiting are not ordered separately', async (t) => {
  const { ordered, wildcardIs } = await start(t)
  await wildcardIs({ fallback: false })
  deepEqual(ordered('svc-1'), [])
})
