// What a changed setting needs before it takes effect.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { areImmediate, requireDeploy } from '../../../src/cli/service/setting-flags.ts'

test('a setting of builds needs a deploy, not a restart', () => {
  assert.equal(requireDeploy({ build_target: 'web' }), true)
  assert.equal(requireDeploy({ memory_limit_mb: 256 }), false)
  assert.equal(areImmediate({ instances: 2 }), true)
})
