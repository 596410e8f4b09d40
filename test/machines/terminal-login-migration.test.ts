// Migration of a terminal login from an earlier version of its chart.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrate, version } from '../../machines/terminal-login.ts'

test('a version 1 snapshot counts as approved with all rights', () => {
  const snapshot = { value: 'pending', status: 'active', context: { id: 'cli-1', name: 'laptop' } }

  const grant = { role: 'admin', services: null, expiresInDays: null }
  assert.deepEqual(migrate(snapshot, 1), { ...snapshot, context: { ...snapshot.context, grant } })
  assert.equal(version, 2)
})
