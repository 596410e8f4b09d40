// Addresses of instances: one holder each, the next one rather than the lowest, and freed with the instance.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const range = { first: '10.201.0.2', last: '10.201.0.5' }

test('an instance gets the next address, and the same one on every request', async (t) => {
  const { addresses } = await temporaryStorage(t)
  const wide = { first: '10.201.0.254', last: '10.201.255.254' }

  const taken = [
    await addresses.allocate('dep-1', 0, wide),
    await addresses.allocate('dep-1', 1, wide),
    await addresses.allocate('dep-1', 0, wide),
    await addresses.allocate('dep-2', 0, wide),
  ]

  deepEqual(taken, ['10.201.0.254', '10.201.0.255', '10.201.0.254', '10.201.1.0'])
  deepEqual([addresses.get('dep-1', 1), addresses.get('dep-1', 2)], ['10.201.0.255', null])
})

test('a released address is not reused next, so stale connections reach no other instance', async (t) => {
  const { addresses } = await temporaryStorage(t)
  await addresses.allocate('dep-1', 0, range)
  await addresses.release('dep-1')

  equal(await addresses.allocate('dep-2', 0, range), '10.201.0.3')
})

test('after the last address the allocation wraps to the first free one', async (t) => {
  const { addresses } = await temporaryStorage(t)
  for (const index of [0, 1, 2, 3]) await addresses.allocate('dep-1', index, range)
  await addresses.release('dep-1', 1)

  const taken = [await addresses.allocate('dep-2', 0, range), await addresses.allocate('dep-2', 1, range)]

  deepEqual(taken, ['10.201.0.3', '10.201.0.4'])
})

test('the allocation cursor survives a restart', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await temporaryStorage(t, directory)
  await first.addresses.allocate('dep-1', 0, range)
  await first.addresses.release('dep-1')
  await first.close()

  const { addresses } = await temporaryStorage(t, directory)

  equal(await addresses.allocate('dep-2', 0, range), '10.201.0.3')
})

test('concurrent requests get distinct addresses, and an exhausted range is reported', async (t) => {
  const { addresses } = await temporaryStorage(t)
  const wishes = Array.from({ length: 6 }, (_, index) => addresses.allocate(`dep-${index}`, 0, range))

  const outcomes = await Promise.allSettled(wishes)

  const responses = outcomes.map((outcome) =>
    outcome.status === 'fulfilled' ? outcome.value : `${outcome.reason.code}: ${outcome.reason.message}`,
  )
  const full = Array<string>(2).fill('no_address_left: every address of the private network is in use')
  deepEqual(responses, ['10.201.0.2', '10.201.0.3', '10.201.0.4', '10.201.0.5', ...full])
  deepEqual(addresses.deployIds(), ['dep-0', 'dep-1', 'dep-2', 'dep-3'])
})

test('a release names a deploy and its first instance: other instances keep their addresses', async (t) => {
  const { addresses } = await temporaryStorage(t)
  for (const index of [0, 1, 2]) await addresses.allocate('dep-1', index, range)
  await addresses.allocate('dep-10', 0, range)

  await addresses.release('dep-1', 1)

  deepEqual(
    [0, 1, 2].map((index) => addresses.get('dep-1', index)),
    ['10.201.0.2', null, null],
  )
  equal(addresses.get('dep-10', 0), '10.201.0.5')
})

test('in another network an instance gets another address, and its former one is free', async (t) => {
  const { addresses } = await temporaryStorage(t)
  const lower = { first: '10.100.0.2', last: '10.100.0.3' }
  await addresses.allocate('dep-1', 0, range)

  const moved = await addresses.allocate('dep-1', 0, lower)

  deepEqual([moved, addresses.get('dep-1', 0)], ['10.100.0.2', '10.100.0.2'])
  const back = []
  for (const index of [0, 1, 2, 3]) back.push(await addresses.allocate('dep-2', index, range))
  deepEqual(back, ['10.201.0.2', '10.201.0.3', '10.201.0.4', '10.201.0.5'])
})
