import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryStorage } from '../support/supervisor/supervision.ts'

test('a service keeps the namespace of its cache mounts until it is renewed or removed', async (t) => {
  const { buildCaches, commit } = await temporaryStorage(t)

  const first = await buildCaches.namespaceOf('svc-1')
  assert.match(first, /^[0-9a-f]{32}$/)
  assert.equal(await buildCaches.namespaceOf('svc-1'), first)
  assert.notEqual(await buildCaches.namespaceOf('svc-2'), first)

  const second = await buildCaches.renew('svc-1')
  assert.notEqual(second, first)
  assert.equal(await buildCaches.namespaceOf('svc-1'), second)

  await commit(() => buildCaches.remove('svc-1'))
  assert.notEqual(await buildCaches.namespaceOf('svc-1'), second)
})
