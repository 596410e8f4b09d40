// Tokens that are used from an address that is new for them.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import * as alert from '../../../machines/alert.ts'
import { alertEffects } from '../../../src/effects/alert/alert.ts'
import { AlertBook } from '../../../src/effects/alert/book.ts'
import { TokenAddresses } from '../../../src/effects/alert/token-addresses.ts'
import { Supervisor } from '../../../src/supervisor/supervisor.ts'
import {
  eventually,
  silentLogger,
  stopBeforeClose,
  temporaryStorage,
} from '../../support/supervisor/supervision.ts'

test('the first address of a token is known, and another one raises an alert once', async (t) => {
  const storage = await temporaryStorage(t)
  const supervisor = new Supervisor({ storage, catalogue: { alert }, logger: silentLogger })
  supervisor.provide({ alert: alertEffects({ notify: async () => undefined }) })
  stopBeforeClose(t, storage, () => supervisor.stop(1000))
  const ports = { storage, actors: supervisor, logger: silentLogger }
  const addresses = new TokenAddresses(ports, new AlertBook(ports, new AbortController().signal))
  const token = { kind: 'token' as const, id: 'tok-1' }
  const known = () => storage.alerts.addressesOf('tok-1')

  addresses.note(token, '192.0.2.1')
  await eventually('the first', () => known().length === 1)
  addresses.note(token, '192.0.2.1')
  addresses.note({ kind: 'session', id: 'ses-1' }, '192.0.2.7')
  addresses.note(token, '2001:db8:1:2::3')
  await eventually('the second', () => known().length === 2)
  addresses.note(token, '2001:db8:1:2:ffff::4')
  addresses.note(token, '2001:db8::1')
  await eventually('the third', () => known().length === 3)

  deepEqual(known(), ['2001:db8:0:0::/64', '2001:db8:1:2::/64', '192.0.2.1'])
  const found = storage.actors.newest('alert', undefined, { limit: 10 })
  const records = found.map(({ id }) => storage.actors.record<'alert'>(id)!)
  deepEqual(
    records.map(({ rule, count }) => [rule, count]),
    [['token_new_address', 2]],
  )
})
