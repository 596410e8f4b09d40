// Runtime logs read from real containers: complete, without duplicates, and available after their removal.
import assert from 'node:assert/strict'
import { readdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
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

long('earlier output is stored with its instance', async (t) => {
  const site = await openDockerSite(t)
  const wanted = await site.spec({ command: 'echo early; echo late >&2; sleep 600' })
  await site.instances.ensure(wanted)
  await until('its lines', async () => (await site.instances.tail(wanted.name, 2)).length === 2)

  const { logs } = begin(t, site, temporaryDirectory(t))
  await until('them stored', () => logs.head(serviceId) === 2)

  const lines = await readLog(logs, serviceId)
  const written = lines.map(({ stream, line, about }) => [stream, line, about?.instance, about?.deploy_id])
  assert.deepEqual(written.sort(), [
    ['stderr', 'late', String(wanted.index), wanted.deployId],
    ['stdout', 'early', String(wanted.index), wanted.deployId],
  ])
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

long('a silent instance is not read again because of a busy one', async (t) => {
  const site = await openDockerSite(t)
  const directory = temporaryDirectory(t)
  const count = 9000
  const busyCommand = `sleep 0.5; i=0; while [ $i -lt ${count} ]; do i=$((i + 1)); echo loud; done; sleep 600`
  await site.instances.ensure(await site.spec({ command: 'echo quiet; sleep 600' }))
  const first = begin(t, site, directory)
  await until('the line', () => first.logs.head(serviceId) === 1)
  await site.instances.ensure(await site.spec({ command: busyCommand, cpuLimit: 1 }))
  await until('all lines', () => first.logs.head(serviceId) === count + 1)
  await first.crash()

  const second = begin(t, site, directory)
  await site.instances.ensure(await site.spec({ command: 'echo newest; sleep 600' }))
  await until('the newest line', async () => (await textsOf(second.logs)).includes('newest'))

  const lines = await textsOf(second.logs)
  assert.equal(lines.filter((line) => line === 'quiet').length, 1)
  assert.equal(lines.length, count + 2)
})

long('while the disk is full Docker buffers the output, and then all of it is stored', async (t) => {
  const site = await openDockerSite(t)
  const directory = temporaryDirectory(t)
  const refusals: unknown[] = []
  const onError = (error: unknown) => refusals.push(error)
  const logs = openLogs(directory, { headBytes: 0, retryMs: 20, onError })
  logs.append(serviceId, 'system', 'before')
  await logs.flush()
  const [name = ''] = readdirSync(join(directory, serviceId))
  const file = join(directory, serviceId, name)
  renameSync(file, `${file}-aside`)
  symlinkSync('/dev/full', file)
  await closeFiles(logs)

  begin(t, site, directory, logs)
  const write = 'i=0; while [ $i -lt 40000 ]; do i=$((i + 1)); echo "line $i"; done; sleep 600'
  const instance = await site.instances.ensure(await site.spec({ command: write, cpuLimit: 1 }))
  await until('all of it written', async () => {
    return (await site.instances.tail(instance.name, 1))[0]?.line === 'line 40000'
  })
  await until('refusals', () => refusals.length > 20)
  const [shown, waitingBytes] = [logs.head(serviceId), logs.waitingBytes(serviceId)]
  renameSync(`${file}-aside`, file)
  await until('all lines', () => logs.head(serviceId) === 40_001)

  assert.equal(shown, 1)
  assert.ok(waitingBytes < 2 * 1024 * 1024, `${waitingBytes} bytes wait in memory`)
  assert.deepEqual(
    (await textsOf(logs)).slice(1),
    Array.from({ length: 40_000 }, (_, index) => `line ${index + 1}`),
  )
})

/** A file that is already open could still be written; after a failure it is opened again. */
async function closeFiles(logs: Logs): Promise<void> {
  for (let other = 0; other < 64; other++) logs.append(`other-${other}`, 'stdout', 'words')
  await logs.flush()
}

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
