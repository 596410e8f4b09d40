// Cron jobs whose daemon is down at the scheduled time, and is killed while it catches up: each gets one run.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import {
  clearedJob,
  createCron,
  jobContainers,
  openDocker,
  output,
  scheduledRuns,
} from '../support/daemon/jobs.ts'
import { until } from '../support/daemon/service.ts'
import { daemonSuite } from '../support/daemon/suite.ts'
import { watchContainers } from '../support/docker/container-events.ts'

const docker = await openDocker()
const suite = daemonSuite({ args: ['--job-concurrency=3'] })
const count = 6
/** The time from its start to the kill. */
const momentsMs = [0, 5, 15, 40]
/** The progress of the first container at the kill. */
const kills = ['create', 'die']

test('a scheduled time during downtime gets one run, however often the daemon is killed', async (t) => {
  const { daemon } = suite
  const creating = Array.from({ length: count }, () =>
    createCron(t, daemon.api, { start_command: 'echo once', overlap: 'queue' }),
  )
  const services = await Promise.all(creating)
  const events = await watchContainers(t, docker, daemon.prefix)
  for (const { name } of services) await daemon.api.patch(`/services/${name}`, { schedule: '* * * * *' })
  const { next } = await daemon.api.get(`/services/${services[0]!.name}/schedule`)
  const instant = Date.parse(next[0])
  await daemon.kill()
  await until('the instant', async () => Date.now() > instant)
  for (const afterMs of momentsMs) {
    await daemon.start()
    await delay(afterMs)
    await daemon.kill()
  }
  for (const action of kills) {
    const before = events.all.length
    await daemon.start()
    await until(action, async () => events.all.slice(before).some((event) => event.action === action))
    await daemon.kill()
  }
  await daemon.start()
  // An earlier change of the schedule would discard the scheduled time.
  for (const { name } of services) await scheduledRuns(daemon.api, name, 1)
  // Nothing else comes due during the test.
  for (const { name } of services) await daemon.api.patch(`/services/${name}`, { schedule: '0 0 1 1 *' })

  for (const { name } of services) {
    const runs = await scheduledRuns(daemon.api, name, 1)
    const instants = runs.map(({ scheduled_for }) => scheduled_for)
    assert.deepEqual([...new Set(instants)], instants)
    for (const { id } of runs) {
      assert.equal((await clearedJob(daemon.api, id)).status, 'succeeded')
      assert.deepEqual(await output(daemon.api, id), ['once'])
      assert.equal(events.of(id).filter(({ action }) => action === 'start').length, 1)
    }
    const { last_run } = await daemon.api.get(`/services/${name}/schedule`)
    assert.equal(last_run?.id, runs[0]!.id)
  }
  assert.deepEqual(await jobContainers(docker, daemon), [])
})
