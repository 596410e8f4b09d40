// Certificates over restarts, pauses that a CA requires, and changes of the service that owns a host.
import { deepEqual, equal, match } from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from '../../../src/logger.ts'
import { openCa, otherAddress, serverAddress, withCa } from '../../support/edge/ca.ts'
import { boot, isValid, isWaiting, openLife } from '../../support/effects/certificates.ts'
import { eventually, silentLogger } from '../../support/supervisor/supervision.ts'
import { isInside } from '../../support/system/namespace.ts'

const test = await withCa(import.meta.url)
const ca = isInside ? await openCa() : ({} as never)

test('a certificate not yet installed when the daemon died is installed after the restart', async (t) => {
  const life = await openLife(t, ca)
  const host = 'cut.example.com'
  ca.names.hosts.set(host, [serverAddress])
  const first = boot(t, life, ca, () => ({ changeCertificates: () => new Promise(() => undefined) }))
  await first.route('svc-1', host)
  const { id } = await first.until(host, 'installing', ({ phase }) => phase === 'installing')
  const { fingerprint } = life.storage.certificates.find(host)!
  await first.stop()

  const second = boot(t, life, ca)
  const view = ca.edge.shown.length
  await second.restore()
  await second.until(host, 'valid', isValid)

  deepEqual(second.installed, [[host]])
  equal(life.storage.certificates.find(host)?.fingerprint, fingerprint)
  deepEqual([second.rowOf(host)?.id, ca.edge.shown.length], [id, view])
})

test('a removed host loses its certificate, and so does a host of a removed service', async (t) => {
  const life = await openLife(t, ca)
  const { route, until, installed } = boot(t, life, ca)
  const { storage } = life
  for (const name of ['one', 'two', 'wrong']) ca.names.hosts.set(`${name}.example.com`, [serverAddress])
  ca.names.hosts.set('wrong.example.com', [otherAddress])
  await route('svc-1', 'one.example.com', 'wrong.example.com')
  await route('svc-2', 'two.example.com')
  await until('one.example.com', 'valid', isValid)
  await until('two.example.com', 'valid', isValid)
  await until('wrong.example.com', 'waiting', isWaiting)

  await route('svc-1')
  await storage.services.remove('svc-2')

  await eventually('all to be dropped', () => [...storage.actors.active('certificate')].length === 0)
  deepEqual([storage.certificates.list(), installed.at(-1)], [[], []])
  const left = readdirSync(join(storage.directory, 'certificates')).filter((name) =>
    /one|two|wrong/.test(name),
  )
  deepEqual(left, [])
})

test('a host moved to another service has its certificate there, in any order of events', async (t) => {
  const life = await openLife(t, ca)
  const { route, until, release } = boot(t, life, ca)
  const { actors, certificates } = life.storage
  const host = 'shared.example.com'
  ca.names.hosts.set(host, [serverAddress])
  await route('svc-1', host)
  const previous = await until(host, 'valid', isValid)

  await route('svc-1')
  await route('svc-2', host)
  await eventually('its certificate there', () => {
    const [record] = actors.list('certificate', 'svc-2', 1)
    return record?.status === 'valid' && record.phase === null
  })
  await eventually('the former claim to end', () => actors.get(previous.id)?.final)
  await release({ id: previous.id, serviceId: 'svc-1', host })
  equal(certificates.isValid(host), true)

  await release({ id: actors.latest('certificate', 'svc-2')!.id, serviceId: 'svc-2', host })
  deepEqual(certificates.list(), [])
})

test('a newly configured CA is used immediately', async (t) => {
  const life = await openLife(t, ca)
  const host = 'staged.example.com'
  ca.names.hosts.set(host, [serverAddress])
  const first = boot(t, life, ca)
  await first.route('svc-1', host)
  await first.until(host, 'valid', isValid)
  const { fingerprint } = life.storage.certificates.find(host)!
  await first.stop()

  const acmeDirectory = ca.pebble.directoryUrl.replace('localhost', '127.0.0.1')
  const second = boot(t, { ...life, settings: { ...life.settings, acmeDirectory } }, ca)
  await second.restore()

  await eventually(
    'another certificate',
    () => life.storage.certificates.find(host)?.fingerprint !== fingerprint,
  )
  await second.until(host, 'valid', isValid)
})

test('the log warns once of a certificate that expires soon and cannot be renewed', async (t) => {
  const logged: [string | undefined, unknown][] = []
  const record = (fields: object | string, message?: string) => void logged.push([message, fields])
  const logger = { ...silentLogger, warn: record, error: record } as Logger
  const life = await openLife(t, ca, { logger })
  const { route, until } = boot(t, life, ca)
  const host = 'warned.example.com'
  ca.names.hosts.set(host, [serverAddress])
  await ca.pebble.restart({}, 12)
  t.after(() => ca.pebble.restart())
  await route('svc-1', host)
  await until(host, 'valid', isValid)
  await ca.pebble.stop()

  const { id, not_after } = await until(host, 'expired', ({ status }) => status === 'expired')

  const words = logged.map(([message]) => message)
  deepEqual(words, ['a certificate expires within 1 day and cannot be renewed', 'a certificate has expired'])
  const [warning] = logged.map(([, fields]) => fields as Record<string, string>)
  deepEqual([warning!.host, warning!.certificate, warning!.not_after], [host, id, not_after])
  match(warning!.reason!, /cannot be reached/)
})
