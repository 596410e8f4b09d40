// How many sources are read at a time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPlaces } from '../../../src/effects/auto-deploy/places.ts'
import { forever } from '../../support/machines/machine-run.ts'
import { serviceRow } from '../../support/storage/store-fixtures.ts'

test('a host that does not respond keeps only its own services waiting', async (t) => {
  const places = openPlaces()
  const started: string[] = []
  const look = (repo_url: string) =>
    places(serviceRow({ repo_url, image: null }), async () => {
      started.push(new URL(repo_url).host)
      if (repo_url.includes('slow')) await forever(t.signal)
    })
  for (let count = 0; count < 20; count++) void look(`https://slow.test/${count}`).catch(() => undefined)

  for (let count = 0; count < 5; count++) await look(`https://fast.test/${count}`)

  assert.deepEqual(started, [...Array(2).fill('slow.test'), ...Array(5).fill('fast.test')])
})
