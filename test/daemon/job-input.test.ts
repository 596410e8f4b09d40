// `berth run` with standard input, in real containers: all of it arrives, or the run fails.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { runBerth, startBerth } from '../support/cli/berth.ts'
import { spawnBerth } from '../support/cli/spawned.ts'
import { launchDaemon } from '../support/daemon/daemon.ts'
import { clearedJob, finishedJob, output, requestJob, runJob, sharedWorker } from '../support/daemon/jobs.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { until } from '../support/daemon/service.ts'

const scope = fileScope()
const daemon = await launchDaemon()
scope.after(() => daemon.remove())
const aWorker = sharedWorker(scope, daemon, { disk_mount_path: '/data' })

/** What the command does when it takes the end of a cut input for the end of all. */
const trap = 'cat > /data/part; touch /data/fooled'

async function isFooled(name: string): Promise<boolean> {
  const { id } = await runJob(daemon.api, name, 'ls /data')
  return (await output(daemon.api, id)).includes('fooled')
}

async function newestRun(name: string) {
  return (await daemon.api.get(`/services/${name}/jobs`))[0]
}

/** A run whose input stays open after a first piece, which the command has. */
async function openRun(t: TestContext, name: string) {
  const before = (await newestRun(name))?.id
  const stdin = new PassThrough()
  stdin.write('half of it')
  const berth = startBerth(t, ['run', '-i', name, '--', trap], { daemon, stdin })
  const run = await until('the run', async () => {
    const run = await newestRun(name)
    return run?.id !== before && run?.started_at !== null && run
  })
  return { berth, stdin, id: run.id as string }
}

test('input arrives as it is, with its end; the exit code passes', async (t) => {
  const { name } = await aWorker()
  const bytes = randomBytes(20_000_000)
  const command = 'sha256sum; exit 7'
  const ended = await runBerth(t, ['run', '-i', name, '--', command], {
    daemon,
    stdin: Readable.from([bytes]),
  })
  assert.equal(ended.code, 7)
  assert.match(ended.stdout, new RegExp(createHash('sha256').update(bytes).digest('hex')))
  const run = await newestRun(name)
  assert.deepEqual([run.stdin, run.input_ended_at !== null], [true, true])

  const piped = spawnBerth(t, ['run', name, '--', 'cat'], { daemon, input: 'piped\n' })
  assert.deepEqual((await piped.ended()).stdout, 'piped\n')
})

test('a command that takes only a part of its input ends the run as it likes', async (t) => {
  const { name } = await aWorker()
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(64 * 1024, 'x\n')
    })(),
  )
  const ended = await runBerth(t, ['run', '-i', name, '--', 'head -c 2'], { daemon, stdin: endless })
  assert.deepEqual([ended.code, ended.stdout], [0, 'x\n'])
})

test('a client that is cut ends the run, which never sees an end of its input', async (t) => {
  const { name } = await aWorker()
  const { berth, id } = await openRun(t, name)
  berth.interrupt()
  const { code, stderr } = await berth.ended()
  assert.equal(code, 130)
  assert.match(stderr, /the run is stopped: it did not get all of its input\n +berth logs --job job-\S+\n$/)
  const run = await finishedJob(daemon.api, id)
  assert.deepEqual([run.status, run.error_code], ['failed', 'input_lost'])
  await clearedJob(daemon.api, id)
  assert.equal(await isFooled(name), false)
})

test('a client that leaves after all of its input says that the run continues', async (t) => {
  const { name } = await aWorker()
  const berth = startBerth(t, ['run', '-i', name, '--', 'cat; echo fed; sleep 600'], {
    daemon,
    stdin: Readable.from([Buffer.from('all of it\n')]),
  })
  await berth.shows('fed\n')
  berth.interrupt()
  assert.match((await berth.ended()).stderr, /the run continues in the background/)
  const { id, status } = await newestRun(name)
  assert.equal(status, 'running')
  await daemon.api.post(`/jobs/${id}/cancel`, {})
})

test('a run that had not all of its input fails after a kill of the daemon', async (t) => {
  const { name } = await aWorker()
  const { id } = await openRun(t, name)
  await daemon.kill()
  await daemon.start()
  const run = await finishedJob(daemon.api, id)
  assert.deepEqual([run.status, run.error_code], ['failed', 'input_lost'])
})

test('a run that had all of its input survives a kill of the daemon', async (t) => {
  const { name } = await aWorker()
  const { berth, stdin, id } = await openRun(t, name)
  stdin.end()
  void berth
  await until('the end of the input', async () => (await daemon.api.get(`/jobs/${id}`)).input_ended_at)
  await daemon.kill()
  await daemon.start()
  assert.equal((await finishedJob(daemon.api, id)).status, 'succeeded')
})

test('a run that waits for its client can be canceled', async () => {
  const { name } = await aWorker()
  const { id } = await requestJob(daemon.api, name, { command: 'cat', stdin: true })
  await daemon.api.post(`/jobs/${id}/cancel`, {})
  assert.equal((await finishedJob(daemon.api, id)).status, 'canceled')
})
