// What a changed setting needs before it takes effect.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  areImmediate,
  parseMebibytes,
  parseSeconds,
  requireDeploy,
} from '../../../src/cli/service/setting-flags.ts'

test('a setting of builds needs a deploy, not a restart', () => {
  assert.equal(requireDeploy({ build_target: 'web' }), true)
  assert.equal(requireDeploy({ memory_limit_mb: 256 }), false)
  assert.equal(areImmediate({ instances: 2 }), true)
})

test('a size has MiB as its unit, or the unit that is written', () => {
  const sizes = { 0: 0, 512: 512, '512m': 512, '512MiB': 512, '1g': 1024, '1.5GB': 1536, '2T': 2_097_152 }
  assert.deepEqual(Object.keys(sizes).map(parseMebibytes), Object.values(sizes))
  for (const text of ['', 'm', '-1', '0.5', '1.3g', '1k', '512 m', '1e3', '1b']) {
    assert.throws(() => parseMebibytes(text), /It must be a whole number of MiB/)
  }
})

test('a time has seconds as its unit, or the unit that is written', () => {
  assert.deepEqual(['0', '90', '90s', '5m', '1H', '2d'].map(parseSeconds), [0, 90, 90, 300, 3600, 172_800])
  for (const text of ['', 's', '1.5m', '-1', '1w', '5 m']) {
    assert.throws(() => parseSeconds(text), /It must be a whole number of seconds/)
  }
})
