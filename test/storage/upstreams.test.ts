// Pools and slots of the edge in the store: one pool per service, lowest free number, reserved until freed.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { UpstreamRow } from '../../storage/upstreams.ts'
import { temporaryStorage } from '../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../support/system/directory.ts'

const instance = (deploy_id: string, index: number, changed: Partial<UpstreamRow> = {}) => ({
  deploy_id,
  index,
  address: `10.201.0.${index + 2}`,
  port: 3000,
  state: 'ready' as const,
  run: null,
  ...changed,
})
const slotsOf = (rows: UpstreamRow[]) => rows.map(({ slot, deploy_id, index }) => [slot, deploy_id, index])

test('each service gets the lowest free pool, and the same one on every request', async (t) => {
  const { upstreams } = await temporaryStorage(t)
  const requests = await Promise.all(
    ['svc-a', 'svc-b', 'svc-a', 'svc-c', 'svc-b'].map((id) => upstreams.allocatePool(id)),
  )
  deepEqual(requests, [1, 2, 1, 3, 2])
  await upstreams.release('svc-b')
  equal(upstreams.poolOf('svc-b'), null)
  equal(await upstreams.allocatePool('svc-d'), 2)
  deepEqual(
    ['svc-a', 'svc-c', 'svc-d'].map((id) => upstreams.poolOf(id)),
    [1, 3, 2],
  )
})

test('an instance keeps its slot, and a new one gets the lowest free slot', async (t) => {
  const { upstreams } = await temporaryStorage(t)
  for (const index of [0, 1, 2]) await upstreams.put('svc-a', instance('dep-1', index))
  await upstreams.put('svc-a', instance('dep-1', 1, { address: '10.201.0.9' }))
  deepEqual(slotsOf(upstreams.list('svc-a')), [
    [1, 'dep-1', 0],
    [2, 'dep-1', 1],
    [3, 'dep-1', 2],
  ])
  equal(upstreams.list('svc-a')[1]!.address, '10.201.0.9')

  equal(await upstreams.remove('svc-a', ({ index }) => index === 1), true)
  await upstreams.put('svc-a', instance('dep-2', 0))
  deepEqual(slotsOf(upstreams.list('svc-a')), [
    [1, 'dep-1', 0],
    [2, 'dep-2', 0],
    [3, 'dep-1', 2],
  ])
  deepEqual(upstreams.list('svc-b'), [])
})

test('states change only where they differ, and the result says whether they did', async (t) => {
  const { upstreams } = await temporaryStorage(t)
  await upstreams.put('svc-a', instance('dep-1', 0))
  await upstreams.put('svc-a', instance('dep-2', 0, { state: 'verifying' }))
  const isFirst = ({ deploy_id }: UpstreamRow) => deploy_id === 'dep-1'
  equal(await upstreams.setState('svc-a', isFirst, 'out'), true)
  equal(await upstreams.setState('svc-a', isFirst, 'out'), false)
  deepEqual(
    upstreams.list('svc-a').map(({ state }) => state),
    ['out', 'verifying'],
  )
  equal(await upstreams.remove('svc-a', ({ deploy_id }) => deploy_id === 'dep-3'), false)
})

test('the pool of a service survives a restart and is deleted with the service', async (t) => {
  const directory = temporaryDirectory(t)
  const first = await temporaryStorage(t, directory)
  await first.upstreams.allocatePool('svc-a')
  const row = await first.upstreams.put('svc-a', instance('dep-1', 0))
  await first.close()

  const { upstreams } = await temporaryStorage(t, directory)

  deepEqual([upstreams.poolOf('svc-a'), upstreams.list('svc-a')], [1, [row]])
  await upstreams.release('svc-a')
  deepEqual([upstreams.poolOf('svc-a'), upstreams.list('svc-a')], [null, []])
})
