// Which HAProxy replaces the running one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isReplacement, type Software } from '../../../src/effects/edge/software.ts'

const software = (version: string | null, identity = `id of ${version}`): Software => ({
  ...{ version, identity },
  image: null,
})

test('another build of the release, a newer one and an unknown version replace the running one', () => {
  const running = software('2.6.12-1+deb12u3')
  for (const wanted of ['2.6.12-1+deb12u4', '2.6.9', '3.2.24', null]) {
    assert.equal(isReplacement(running, software(wanted), ''), true, String(wanted))
  }
  assert.equal(isReplacement(running, software('2.6.12-1+deb12u4', running.identity), ''), false)
})

test('the fallback for an unresponsive registry does not replace a newer release', () => {
  const running = software('3.2.24')
  for (const wanted of ['2.6.12-1+deb12u4', '3.0.9']) {
    assert.equal(isReplacement(running, software(wanted), ''), false, wanted)
    assert.equal(isReplacement(running, software(wanted), 'haproxy:lts'), true, `${wanted}, named`)
  }
})
