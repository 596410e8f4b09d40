// How many sources are read at a time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPlaces, sharedKey } from '../../../src/effects/auto-deploy/places.ts'
import { forever } from '../../support/machines/machine-run.ts'
import { serviceRow, transitionOf } from '../../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../../support/supervisor/supervision.ts'

test('a host that does not respond keeps only its own services waiting', async (t) => {
  const places = openPlaces()
  const started: string[] = []
  const look = (repo_url: string) =>
    places(serviceRow({ repo_url, image: null }), { key: null, signal: t.signal }, async () => {
      started.push(new URL(repo_url).host)
      if (repo_url.includes('slow')) await forever(t.signal)
    })
  for (let count = 0; count < 20; count++) void look(`https://slow.test/${count}`).catch(() => undefined)

  for (let count = 0; count < 5; count++) await look(`https://fast.test/${count}`)

  assert.deepEqual(started, [...Array(2).fill('slow.test'), ...Array(5).fill('fast.test')])
})

test('services of one repository are read together, but never with what began before', async (t) => {
  const places = openPlaces()
  const service = serviceRow({ repo_url: 'https://git.test/mono', image: null })
  const ends: ((outcome: string) => void)[] = []
  const read = (signal = t.signal) =>
    places(service, { key: 'mono', signal }, () => new Promise<string>((resolve) => ends.push(resolve)))
  const tick = () => new Promise((resolve) => setImmediate(resolve))
  const first = read()
  await tick()
  const second = read()
  await tick()
  const others = Array.from({ length: 18 }, () => read())
  await tick()
  assert.equal(ends.length, 2)
  ends[0]!('one')
  assert.equal(await first, 'one')
  await tick()
  ends[1]!('two')
  ends[2]!('three')
  assert.equal(await second, 'two')
  assert.deepEqual(new Set(await Promise.all(others)), new Set(['three']))
})

test('work that its service ends is done again for the others, and a failure is shared', async (t) => {
  const places = openPlaces()
  const service = serviceRow({ repo_url: 'https://git.test/mono', image: null })
  const ends = new AbortController()
  let count = 0
  const read = (signal: AbortSignal, isLast = false) =>
    places(service, { key: 'mono', signal }, async () => {
      count++
      if (isLast) throw new Error('unreadable')
      await forever(signal)
    })
  const starter = read(ends.signal).catch(() => 'ended')
  const others = [1, 2].map(() => read(t.signal, true).catch(({ message }: Error) => message))
  await new Promise((resolve) => setImmediate(resolve))
  ends.abort()
  assert.equal(await starter, 'ended')
  assert.deepEqual(await Promise.all(others), ['unreadable', 'unreadable'])
  assert.equal(count, 2)
})

test('services share a read only if the same account reads for them', async (t) => {
  const storage = await temporaryStorage(t)
  for (const id of ['git-1', 'git-2']) {
    const { record, ...rest } = transitionOf({ id, kind: 'git-connection', service_id: null }, {})
    const account = { status: 'connected', base_url: 'https://git.test', auth: 'token', account: id }
    await storage.actors.create({ ...rest, record: { ...record, ...account } })
  }
  const keyFor = (read_with?: string) => {
    const row = serviceRow({ repo_url: 'https://git.test/team/shop', image: null })
    return sharedKey(storage, { ...row, ...(read_with && { read_with }) }, 'head')
  }
  assert.equal(keyFor('git-1'), keyFor('git-1'))
  assert.notEqual(keyFor('git-1'), keyFor('git-2'))
  assert.equal(keyFor(), null)
})
