// What changes the instances of a service, and when the command is done.
import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import type { ServiceStatus } from '../../../src/api/status.ts'
import { type Ended, runBerth } from '../../support/cli/berth.ts'
import { pageApp } from '../../support/daemon/service.ts'
import { createService, daemonSuite } from '../../support/daemon/suite.ts'
import { baseImages } from '../../support/docker/images.ts'

const suite = daemonSuite()
before(baseImages)

function berth(t: TestContext, ...args: string[]): Promise<Ended> {
  return runBerth(t, args, { daemon: suite.daemon })
}

test('scale, suspend and resume wait until the instances have changed', async (t) => {
  const { name } = await createService(t, suite.api, await pageApp('page'))
  const running = async () => {
    const { instances } = (await suite.api.get(`/services/${name}/status`)) as unknown as ServiceStatus
    return instances.filter(({ state }) => state === 'running').length
  }

  const scaled = await berth(t, 'scale', name, '2')
  assert.match(
    scaled.stderr,
    new RegExp(`✔ scaling +${name} runs 2 instances .*\n +undo: berth scale ${name} 1\n$`),
  )
  assert.equal(await running(), 2)
  const suspended = await berth(t, 'suspend', name)
  assert.match(
    suspended.stderr,
    new RegExp(`✔ suspending +${name} has stopped .*\n +undo: berth resume ${name}\n$`),
  )
  assert.equal(await running(), 0)
  const resumed = await berth(t, 'resume', name, '--json')
  assert.deepEqual([JSON.parse(resumed.stdout).state, await running()], ['live', 2])
  const hasty = await berth(t, 'suspend', name, '--no-wait')
  assert.match(hasty.stderr, /is suspended: its instances are stopping\n/)
})
