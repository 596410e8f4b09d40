// The end of a replaced version: open requests may finish until its deadline, and streams hear of it then.
// Durations are compared with the service's drain_seconds, never with the speed of the machine.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fileScope } from '../support/daemon/scope.ts'
import { createService } from '../support/daemon/suite.ts'
import { edgeApp } from '../support/edge/edge-app.ts'
import { openEdgeSite } from '../support/edge/edge-site.ts'
import { type Followed, followEvents, followSocket, requestSlowly } from '../support/edge/edge-streams.ts'
import { long } from '../support/system/drill-size.ts'

const scope = fileScope()
const site = await openEdgeSite(scope)
const { containersOf, page, placeOf, untilDeactivated } = site
const { api } = site.daemon

/** The seconds between a deploy going live and the end of its predecessor. */
async function drainSeconds(previous: string, next: { finished_at: string }): Promise<number> {
  await untilDeactivated(previous)
  const history = await api.get(`/deploys/${previous}/history`)
  return (Date.parse(history.at(-1).at) - Date.parse(next.finished_at)) / 1000
}

const createSlow = async (drain_seconds: number, ...wishes: string[]) =>
  createService(scope, api, await edgeApp('one', ...wishes), { health_check_path: '/healthz', drain_seconds })

describe('a version that is replaced', { concurrency: true }, () => {
  test('finishes a slow response that began before, and ends soon after it', async (t) => {
    const service = await createSlow(20, 'abrupt=1')
    const { answer } = await requestSlowly(t, placeOf(service), 8_000)

    const two = await service.deploy(await edgeApp('two'))

    assert.equal((await page(service)).body, 'two')
    const both = (await containersOf(service)).map(({ deployId }) => deployId).sort()
    assert.deepEqual(both, [service.first.id, two.id])
    assert.equal(await answer, 'one done')
    const answeredAt = Date.now()
    await untilDeactivated(service.first.id)
    const afterwardsMs = Date.now() - answeredAt
    // Its deadline would have been 12 s later.
    assert.ok(afterwardsMs < 10_000, `it was there for ${afterwardsMs} ms more`)
  })

  for (const [what, follow] of [
    ['an endless answer', followEvents],
    ['a WebSocket', followSocket],
  ] as const) {
    long(`says goodbye through ${what} when its deadline has passed`, async (t) => {
      const service = await createSlow(4)
      const stream: Followed = await follow(t, placeOf(service))
      const two = await service.deploy(await edgeApp('two'))

      const took = await drainSeconds(service.first.id, two)

      await stream.ended()
      assert.deepEqual([stream.ending, stream.said.at(-1)], ['goodbye', 'goodbye'])
      const openMs = stream.endedAt! - Date.parse(two.finished_at)
      assert.ok(openMs >= 3_900, `it was open for ${openMs} ms after the swap`)
      // It had 10 s after its goodbye before it was killed.
      const leftS = took - openMs / 1000
      assert.ok(leftS < 10, `it took ${leftS} s after its goodbye`)
    })
  }
})
