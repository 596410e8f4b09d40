// What is remembered of a choice of packages, in a cache of the test's own.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../support/directory.ts'

const wish = { packages: ['busybox-static'], only: ['busybox-static'] }

test('a choice of packages is remembered while it holds, and apt is asked again after that', async (t) => {
  process.env.XDG_CACHE_HOME = temporaryDirectory(t)
  const { cacheDirectory, choosePackages, fetchPackages } = await import(
    '../../src/base-images/debian-packages.ts'
  )
  const chosen = await choosePackages(wish)
  assert.match(chosen.join(), /^busybox-static_\S+\.deb$/)
  const directory = join(cacheDirectory, 'packages')
  const choice = join(directory, readdirSync(directory).find((name) => name.startsWith('choice-'))!)
  const age = (hours: number) => utimesSync(choice, new Date(), Date.now() / 1000 - hours * 3600)

  for (const text of ['', '["busybox-st', 'null', '{}']) {
    writeFileSync(choice, text)
    assert.deepEqual(await choosePackages(wish), chosen, text)
  }

  const other = ['busybox-static_0_all.deb']
  writeFileSync(choice, JSON.stringify(other))
  assert.deepEqual(await choosePackages(wish), other, 'for an hour without its packages')
  age(2)
  assert.deepEqual(await choosePackages(wish), chosen, 'no longer than that')

  await fetchPackages(chosen)
  const byHand = `${JSON.stringify(chosen)} `
  writeFileSync(choice, byHand)
  age(1000)
  assert.deepEqual(await choosePackages(wish), chosen)
  assert.equal(readFileSync(choice, 'utf8'), byHand, 'with its packages for ever')
})
