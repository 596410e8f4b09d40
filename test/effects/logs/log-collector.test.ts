// Runtime logs read from real containers: complete, without duplicates, and available after their removal.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { watchEvents } from '../../../src/docker/engine/events.ts'
import { createInstanceEvents } from '../../../src/effects/engine/instance-events.ts'
import { LogCollector } from '../../../src/effects/logs/log-collector.ts'
import { type Logs, openLogs } from '../../../storage/log/logs.ts'
import { type DockerSite, openDockerSite, until } from '../../support/docker/docker-site.ts'
import { readLog } from '../../support/storage/logs.ts'
import { silentLogger } from '../../support/supervisor/supervision.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'
import { long } from '../../support/system/drill-size.ts'

interface Life {
  collector: LogCollector
  logs: Logs
  /** Writes no note: only the lines on disk remain. */
  crash(): Promise<void>
  stop(): Promise<void>
}

/** One daemon's log collector, from its start to its end. */
function begin(
  t: TestContext,
  site: DockerSite,
  directory: string,
  logs = openLogs(directory, { headBytes: 0 }),
): Life {
  const instanceEvents = createInstanceEvents()
  const watching = new AbortController()
  void watchEvents(site.engine, site.owner, instanceEvents.publish, watching.signal)
  const collector = new LogCollector({
    ...site,
    instanceEvents,
    logger: silentLogger,
    storage: { runtimeLogs: logs },
  })
  collector.start()
  const stop = async () => {
    watching.abort()
    await collector.stop()
    await logs.close()
  }
  const crash = async () => {
    await logs.close()
    await stop()
  }
  t.after(stop)
  return { collector, logs, crash, stop }
}

const serviceId = 'svc-01hzy7k9m0000000000000test'
const textsOf = async (logs: Logs) => (await readLog(logs, serviceId)).map(({ line }) => line)

test('lines of two instances are stored once and in order, however often the daemon dies', async (t) => {
  const site = await openDockerSite(t)
  const directory = temporaryDirectory(t)
  const write =
    'i=0; while [ $i -lt 8000 ]; do i=$((i + 1)); echo "$N $i"; echo "$N! $i" >&2; ' +
    'case $i in *00) sleep 0.04;; esac; done'
  let life = begin(t, site, directory)
  for (const env of [[{ key: 'N', value: 'a' }], [{ key: 'N', value: 'b' }]]) {
    await site.instances.ensure(await site.spec({ command: write, env, cpuLimit: 1 }))
  }

  let lives = 1
  for (let seen = 0; seen < 32_000; ) {
    await sleep(100 + Math.random() * 300)
    if (lives < 12) {
      await (lives++ % 3 === 0 ? life.stop() : life.crash())
      life = begin(t, site, directory)
    }
    seen = life.logs.head(serviceId)
  }

  const lines = await textsOf(life.logs)
  assert.ok(lives > 2, `only ${lives} lives`)
  for (const name of ['a', 'a!', 'b', 'b!']) {
    const instanceLines = lines.filter((line) => line.split(' ')[0] === name)
    assert.deepEqual(
      instanceLines,
      Array.from({ length: 8000 }, (_, index) => `${name} ${index + 1}`),
    )
  }
  assert.equal(lines.length, 32_000)
})

test('the last output of a short-lived instance is stored after its container is removed', async (t) => {
  const site = await openDockerSite(t)
  const { collector, logs } = begin(t, site, temporaryDirectory(t))

  for (let round = 1; round <= 5; round++) {
    const { name } = await site.instances.ensure(
      await site.spec({ command: `echo round ${round}; printf 'last words'` }),
    )
    await site.instances.stop(name, 1)
    await collector.drained(name)
    await site.instances.remove(name)
  }

  const expected = [1, 2, 3, 4, 5].flatMap((round) => [`round ${round}`, 'last words'])
  assert.deepEqual(await textsOf(logs), expected)
})

test('a restarted instance is read again, whether its start was observed or not', async (t) => {
  const site = await openDockerSite(t)
  const directory = temporaryDirectory(t)
  const wanted = await site.spec({ command: 'date +%N' })
  const first = begin(t, site, directory)
  await site.instances.ensure(wanted)
  await until('the first line', () => first.logs.head(serviceId) === 1)
  await first.collector.drained(wanted.name)
  await site.instances.start(wanted.name)
  await until('the second line', () => first.logs.head(serviceId) === 2)
  await first.stop()
  await site.instances.start(wanted.name)
  await until('the third', async () => (await site.instances.tail(wanted.name, 5)).length === 3)

  const second = begin(t, site, directory)
  await until('the third line', () => second.logs.head(serviceId) === 3)
  await second.collector.drained(wanted.name)

  const printed = (await site.instances.tail(wanted.name, 5)).map(({ line }) => line)
  assert.deepEqual(await textsOf(second.logs), printed)
})

long('the log of a removed service is deleted', async (t) => {
  const site = await openDockerSite(t)
  const { collector, logs } = begin(t, site, temporaryDirectory(t))
  const { name } = await site.instances.ensure(await site.spec({ command: 'echo words; sleep 600' }))
  await until('the line', () => logs.head(serviceId) === 1)
  await site.instances.stop(name, 0)
  await collector.drained(name)
  await site.instances.remove(name)

  await collector.remove(serviceId)
  await collector.stop()

  assert.deepEqual(await logs.ids(), [])
})
