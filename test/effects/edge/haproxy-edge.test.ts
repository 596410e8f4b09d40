// Rounds of the edge over real storage, with a driver that records its calls.
import { deepEqual, rejects } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Driver } from '../../../src/edge/driver.ts'
import type { EdgeFiles } from '../../../src/edge/files.ts'
import { HaproxyEdge } from '../../../src/effects/edge/haproxy-edge.ts'
import { Failure } from '../../../src/errors.ts'
import { temporaryStorage } from '../../support/supervisor/supervision.ts'

async function openEdge(t: TestContext) {
  const calls: string[] = []
  const state = { process: 1, isFailing: false }
  const driver = {
    identify: async () => state.process,
    invalidate: () => void calls.push('invalidate'),
    apply: async () => {
      calls.push('apply')
      if (state.isFailing) throw new Failure('edge_unavailable', 'no answer')
      return []
    },
  }
  const edge = new HaproxyEdge({
    storage: await temporaryStorage(t),
    settings: { baseDomain: 'localhost' },
    files: { generation: 1 } as EdgeFiles,
    driver: driver as unknown as Driver,
    publicPorts: { httpPort: 80, httpsPort: 443, ownHost: 'own.invalid' },
    routeSources: { dashboardHost: null },
    certificates: () => new Map(),
    accessLog: { recordAccess: () => undefined, newest: async () => null },
    unavailableReason: () => 'no answer',
  })
  /** The calls of the driver in one round. */
  const round = async () => {
    calls.length = 0
    await edge.round()
    return [...calls]
  }
  return { edge, state, calls, round }
}

test('a round reads everything for a new process, and does nothing without a change', async (t) => {
  const { edge, state, round } = await openEdge(t)
  deepEqual(await round(), ['invalidate', 'apply'])
  deepEqual(await round(), [])
  edge.dropChallenge('none')
  deepEqual(await round(), ['apply'])
  state.process = 2
  deepEqual(await round(), ['invalidate', 'apply'])
})

test('a comparison that failed is repeated by the next round', async (t) => {
  const { edge, state, calls, round } = await openEdge(t)
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  await round()
  t.mock.timers.tick(61_000)
  state.isFailing = true
  calls.length = 0
  await rejects(edge.round(), { code: 'edge_unavailable' })
  deepEqual(calls, ['invalidate', 'apply'])

  state.isFailing = false
  deepEqual(await round(), ['invalidate', 'apply'])
  deepEqual(await round(), [])
})
