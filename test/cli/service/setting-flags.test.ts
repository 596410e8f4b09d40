// What a changed setting needs before it takes effect.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyAtOnce, needDeploy } from '../../../src/cli/service/setting-flags.ts'

test('a setting of builds needs a deploy, not a restart', () => {
  assert.equal(needDeploy({ build_target: 'web' }), true)
  assert.equal(needDeploy({ memory_limit_mb: 256 }), false)
  assert.equal(applyAtOnce({ instances: 2 }), true)
})
