// One wildcard certificate instead of one per service: a real CA (Pebble) queries a real name server (BIND),
// which the hook of the manual changes with `nsupdate`.
import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHook } from '../../../src/dns/hook.ts'
import type { DnsProvider } from '../../../src/dns/provider.ts'
import { Failure } from '../../../src/errors.ts'
import { fileScope } from '../../support/daemon/scope.ts'
import { until, until as untilTrue } from '../../support/daemon/service.ts'
import { openCa, serverAddress, withCa } from '../../support/edge/ca.ts'
import { openPebble } from '../../support/edge/pebble.ts'
import { boot, isValid, isWaiting, openLife } from '../../support/effects/certificates.ts'
import { serviceRow } from '../../support/storage/store-fixtures.ts'
import { eventually } from '../../support/supervisor/supervision.ts'
import { installPackages } from '../../support/system/apt.ts'
import { commandEnv, hasCommand } from '../../support/system/command.ts'
import { type Scope, temporaryDirectory } from '../../support/system/directory.ts'
import { isInside } from '../../support/system/namespace.ts'

interface Bind {
  /** A key file in the format of `tsig-keygen`. */
  keyFile: string
  /** The values of a TXT record on the server; empty for a name that does not exist. */
  texts(name: string): Promise<string[]>
}

const tsigSecret = 'c2VjcmV0LW9mLXRoZS10ZXN0LXpvbmUtMDEyMzQ1Njc='

/** Listens on port 53 of the address, to which every name below example.com resolves. */
async function startBind(t: Scope, address: string): Promise<Bind> {
  const directory = temporaryDirectory(t)
  const keyFile = join(directory, 'tsig.key')
  writeFileSync(keyFile, `key "berth" {\n\talgorithm hmac-sha256;\n\tsecret "${tsigSecret}";\n};\n`)
  const zone = [
    '$TTL 60',
    '@ IN SOA ns1 hostmaster 1 3600 600 86400 60',
    '  IN NS ns1',
    `ns1 IN A ${address}`,
    `* IN A ${address}`,
    `*.apps IN A ${address}`,
  ]
  writeFileSync(join(directory, 'example.com.zone'), `${zone.join('\n')}\n`)
  const config = `include "${keyFile}";
options { directory "${directory}"; listen-on port 53 { ${address}; }; listen-on-v6 { none; };
  recursion no; dnssec-validation no; pid-file none; session-keyfile none; };
controls { };
zone "example.com" { type primary; file "example.com.zone";
  update-policy { grant berth zonesub TXT; }; };
`
  writeFileSync(join(directory, 'named.conf'), config)
  const log = openSync(join(directory, 'named.log'), 'a')
  const child = spawn('named', ['-f', '-4', '-n', '1', '-c', join(directory, 'named.conf')], {
    stdio: ['ignore', log, log],
    env: commandEnv,
  })
  t.after(async () => {
    if (child.kill('SIGKILL')) await once(child, 'exit')
  })
  const resolver = new Resolver({ timeout: 1000, tries: 1 })
  resolver.setServers([address])
  await until('the name server', async () => {
    if (child.exitCode !== null)
      throw new Error(readFileSync(join(directory, 'named.log'), 'utf8').slice(-2000))
    return resolver.resolveNs('example.com').catch(() => null)
  })
  const texts = async (name: string) => {
    const found = await resolver.resolveTxt(name).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOTFOUND' || error.code === 'ENODATA') return []
      throw error
    })
    return found.map((parts) => parts.join(''))
  }
  return { keyFile, texts }
}

if (!isInside && !hasCommand('named')) await installPackages(['bind9'])
if (!isInside && !hasCommand('nsupdate')) await installPackages(['bind9-dnsutils'])
const test = await withCa(import.meta.url)
const ca = isInside ? await openCa() : ({} as never)
const bind = isInside ? await startBind(fileScope(), serverAddress) : ({} as never)
const pebble = isInside ? await openStrictPebble() : ({} as never)
const baseDomain = 'apps.example.com'
const wildcard = `*.${baseDomain}`
const challenge = `_acme-challenge.${baseDomain}`
const lookup = { nameServers: [serverAddress], pauseMs: 100, longestMs: 20_000 }
const update = () => hookOfTheManual(bind.keyFile)

/** The example of the manual, with this name server and a key. */
function hookOfTheManual(keyFile: string): DnsProvider {
  const manual = readFileSync(join(import.meta.dirname, '../../../docs/certificates.md'), 'utf8')
  const example = manual.split('```').find((part) => part.includes('nsupdate -k'))!
  const script = example.replace('/etc/berth/tsig.key', keyFile).replace('ns1.example.com', serverAddress)
  const path = join(temporaryDirectory(fileScope()), 'zone')
  writeFileSync(path, script.replace(/^sh\n/, ''), { mode: 0o700 })
  return createHook(path)
}

/** A Pebble that queries the name server of the tests. */
async function openStrictPebble() {
  const directory = process.env.PREPARED!
  const opened = openPebble(fileScope(), { directory, port: 14_100, nameServer: `${serverAddress}:53` })
  await opened.restart()
  return opened
}

const lifeWith = (t: Parameters<typeof openLife>[0], provider: DnsProvider) =>
  openLife(t, { pebble }, { baseDomain, dns: { provider, lookup } })

test('one wildcard serves all services below the base domain, and leaves no DNS record', async (t) => {
  const life = await lifeWith(t, update())
  const { ensure, until, rows, installed } = boot(t, life, ca)
  const { services, certificates } = life.storage
  ca.names.hosts.set('own.example.com', [serverAddress])
  for (const [id, name] of [
    ['svc-1', 'shop'],
    ['svc-2', 'blog'],
  ] as const) {
    const custom_domains = name === 'shop' ? ['own.example.com'] : []
    await services.create(serviceRow({ id, name, live_deploy_id: 'dep-1', custom_domains }))
  }

  await ensure()

  const { service_id, error } = await until(wildcard, 'valid', isValid)
  await until('own.example.com', 'valid', isValid)
  deepEqual([service_id, error], [null, null])
  deepEqual(
    rows()
      .map(({ host }) => host)
      .sort(),
    [wildcard, 'own.example.com'],
  )
  deepEqual(installed.at(-1), [wildcard, 'own.example.com'])
  deepEqual(
    [certificates.covers('shop.apps.example.com'), certificates.covers('a.b.apps.example.com')],
    [true, false],
  )
  deepEqual([await bind.texts(challenge), certificates.txtRecords()], [[], []])
})

test('certificates per service are used until the wildcard is ready, and then dropped', async (t) => {
  const life = await openLife(t, { pebble }, { baseDomain })
  const { services, certificates } = life.storage
  const host = `shop.${baseDomain}`
  ca.names.hosts.set(host, [serverAddress])
  await services.create(serviceRow({ id: 'svc-1', name: 'shop', live_deploy_id: 'dep-1' }))
  const before = boot(t, life, ca)
  await before.ensure()
  await before.until(host, 'valid', isValid)
  await before.stop()
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const real = update()
  const provider = {
    ...real,
    present: (...args: Parameters<DnsProvider['present']>) => opened.then(() => real.present(...args)),
  }

  const after = boot(t, { ...life, dns: { provider, lookup } }, ca)
  await after.restore()
  await after.ensure()
  await after.until(wildcard, 'ordering', ({ phase }) => phase === 'ordering')
  equal(certificates.isValid(host), true)
  open()

  await after.until(wildcard, 'valid', isValid)
  await eventually('the single certificate to go', () => certificates.find(host) === null)
  deepEqual(
    certificates.list().map((certificate) => certificate.host),
    [wildcard],
  )
  equal(certificates.covers(host), true)
})

test('without --acme-dns the wildcard is used until each host has its own certificate', async (t) => {
  const life = await lifeWith(t, update())
  const { services, certificates } = life.storage
  const [shop, blog] = [`shop.${baseDomain}`, `blog.${baseDomain}`]
  await services.create(serviceRow({ id: 'svc-1', name: 'shop', live_deploy_id: 'dep-1' }))
  await services.create(serviceRow({ id: 'svc-2', name: 'blog', live_deploy_id: 'dep-1' }))
  const before = boot(t, life, ca)
  await before.ensure()
  await before.until(wildcard, 'valid', isValid)
  await before.stop()
  ca.names.hosts.set(shop, [serverAddress])
  ca.names.hosts.delete(blog)

  const { dns: _, ...withoutDns } = life
  const after = boot(t, withoutDns, ca)
  await after.restore()
  await after.ensure()
  await after.until(shop, 'valid', isValid)
  await after.until(blog, 'waiting', isWaiting)
  equal(certificates.isValid(wildcard), true, 'blog has no other certificate')
  equal(after.rowOf(wildcard)?.status, 'valid')

  ca.names.hosts.set(blog, [serverAddress])
  await after.retry(blog)
  await after.until(blog, 'valid', isValid)
  await eventually('the wildcard to go', () => certificates.find(wildcard) === null)
  deepEqual(after.installed.at(-1), [blog, shop])
})

test('a crash between adding and removing the DNS record leaves no record after the restart', async (t) => {
  const real = update()
  const died = new Promise<never>((_, reject) => t.after(() => reject(new Error('the test has ended'))))
  died.catch(() => undefined)
  const dying = {
    present: (...args: Parameters<DnsProvider['present']>) => real.present(...args).then(() => died),
    cleanup: () => died,
  }
  const life = await lifeWith(t, dying)
  const first = boot(t, life, ca)
  await first.ensure()
  await untilTrue('the record', async () => (await bind.texts(challenge)).length > 0)
  const [stale] = await bind.texts(challenge)
  void first.stop()

  const second = boot(t, { ...life, dns: { provider: real, lookup } }, ca)
  t.after(second.startSweep() ?? (() => undefined))
  await second.restore()

  await second.until(wildcard, 'valid', isValid)
  await untilTrue('the zone to be clean', async () => (await bind.texts(challenge)).length === 0)
  equal(typeof stale, 'string')
  deepEqual(life.storage.certificates.txtRecords(), [])
})

test('a key that the name server rejects is reported with the reason, and never shown', async (t) => {
  const keyFile = join(temporaryDirectory(t), 'tsig.key')
  const otherSecret = Buffer.from('another secret').toString('base64')
  writeFileSync(keyFile, readFileSync(bind.keyFile, 'utf8').replace(tsigSecret, otherSecret))
  const life = await lifeWith(t, hookOfTheManual(keyFile))
  const { ensure, until } = boot(t, life, ca)

  await ensure()

  const row = await until(wildcard, 'waiting', isWaiting)
  match(row.error!, /present: it exited with 2: .*BADSIG/)
  doesNotMatch(JSON.stringify(row), new RegExp(otherSecret.slice(0, 8)))
})

test('while a zone cannot be changed, hosts get their own certificates', async (t) => {
  const real = update()
  let isBroken = true
  const provider: DnsProvider = {
    ...real,
    present: (...args) =>
      isBroken
        ? Promise.reject(new Failure('dns_failed', 'the program ended with 1'))
        : real.present(...args),
  }
  const life = await lifeWith(t, provider)
  const host = `shop.${baseDomain}`
  ca.names.hosts.set(host, [serverAddress])
  const { services, certificates } = life.storage
  await services.create(serviceRow({ id: 'svc-1', name: 'shop', live_deploy_id: 'dep-1' }))
  const { ensure, start, retry, rowOf, until } = boot(t, life, ca)
  t.after(start())
  await ensure()
  for (const attempts of [1, 2]) {
    await until(wildcard, 'waiting', (row) => isWaiting(row) && row.attempts === attempts)
    equal(rowOf(host), undefined)
    await retry(wildcard)
  }

  await until(host, 'valid', isValid)
  const { error } = await until(wildcard, 'waiting', (row) => isWaiting(row) && row.attempts === 3)
  match(error!, /^the program ended with 1; until it is issued, the hosts below it get certificates/)

  isBroken = false
  await retry(wildcard)
  await until(wildcard, 'valid', isValid)
  await eventually('the single certificate to go', () => certificates.find(host) === null)
})
