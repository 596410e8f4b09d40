// What is remembered of a choice of packages, in a cache of the test's own.
import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../support/directory.ts'

test('an empty or cut choice is not remembered, and apt is asked again', async (t) => {
  process.env.XDG_CACHE_HOME = temporaryDirectory(t)
  const { cacheDirectory, choosePackages, fetchPackages } = await import(
    '../../src/base-images/debian-packages.ts'
  )
  const wish = { packages: ['busybox-static'], only: ['busybox-static'] }
  const chosen = await choosePackages(wish)
  assert.match(chosen.join(), /^busybox-static_\S+\.deb$/)
  await fetchPackages(wish, [])
  assert.deepEqual(await choosePackages(wish), [], 'the choice is remembered')
  const directory = join(cacheDirectory, 'packages')
  const choice = readdirSync(directory).find((name) => name.startsWith('choice-'))!

  for (const text of ['', '["busybox-st', 'null', '{}']) {
    writeFileSync(join(directory, choice), text)
    assert.deepEqual(await choosePackages(wish), chosen, text)
  }
})
