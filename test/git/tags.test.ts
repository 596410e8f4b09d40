// Which tags are pre-releases, and which patterns name them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTagList } from '../../src/git/tags.ts'

/** Of tags that come in this order, the one that counts as the highest. */
function highest(pattern: string, ...names: string[]): string | undefined {
  const tags = createTagList(pattern)
  for (const name of names) tags.read(`${'1'.repeat(40)}\trefs/tags/${name}`)
  return tags.highest()[0]?.name
}

test('a release comes before the pre-releases of later versions', () => {
  const later = ['web-v2.0.0-rc.1', 'v2.0.0-1', 'v2.0.0beta2', '2.0-alpha', '2.0b1', 'v2.0.0-SNAPSHOT']
  for (const name of later) assert.equal(highest('*', name, 'v1.9'), 'v1.9', name)
})

test('a hyphen, a word and a date make no pre-release', () => {
  const releases = ['web-v2', '2026-11-29', 'release-2026-11-29', 'v2-developer', 'next-16', 'betamax-2.0']
  for (const name of releases) assert.equal(highest('*', name, 'v1.9'), name)
})

test('a pattern that names pre-releases ranks them like releases', () => {
  for (const pattern of ['v*-rc*', 'v2.0.0-*', '*beta*'])
    assert.equal(highest(pattern, 'v2.0.0-rc1', 'v1.9'), 'v2.0.0-rc1', pattern)
  for (const pattern of ['web-v*', 'web-*', '*']) assert.equal(highest(pattern, 'v2.0-rc1', 'v1.9'), 'v1.9')
})
