// Docker is stopped, killed and started during a run: the run fails with the reason. Uses a private
// engine in a namespace.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { launchDaemon } from '../support/daemon/daemon.ts'
import {
  clearedJob,
  createWorker,
  jobContainers,
  openDocker,
  output,
  requestJob,
  runJob,
  untilLogged,
} from '../support/daemon/jobs.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { ensureEngine } from '../support/docker/engine.ts'
import { baseImages } from '../support/docker/images.ts'
import {
  loadImage,
  type NamespaceEngine,
  saveImage,
  startNamespaceEngine,
} from '../support/docker/namespace-engine.ts'
import { temporaryDirectory } from '../support/system/directory.ts'
import { isInside, openNetwork, runInside, whyNoNamespace } from '../support/system/namespace.ts'

const scope = fileScope()

function outside(impossible: string | null): void {
  test('runs survive restarts of Docker, or report why not', { skip: impossible ?? false }, async (t) => {
    const directory = temporaryDirectory(scope)
    const engine = await ensureEngine()
    // All images, because none can be built or pulled in the namespace.
    for (const [name, image] of Object.entries(await baseImages()))
      await saveImage(engine, image, join(directory, `${name}.tar`))
    const { code, lines } = await runInside(import.meta.url, { PREPARED: directory })
    for (const line of lines.filter((line) => /^ *(not )?ok |^ *# /.test(line))) t.diagnostic(line)
    assert.equal(code, 0, lines.join('\n'))
  })
}

async function open(prepared: string) {
  await openNetwork('10.99.0.1')
  const engine = await startNamespaceEngine(join(prepared, 'engine'))
  scope.after(() => engine.stop())
  process.env.DOCKER_HOST = engine.address
  for (const name of ['busybox', 'node']) await loadImage(engine.address, join(prepared, `${name}.tar`))
  const daemon = await launchDaemon()
  scope.after(() => daemon.remove())
  return { engine, daemon, worker: await createWorker(scope, daemon.api) }
}

async function inside(): Promise<void> {
  const { engine, daemon, worker } = await open(process.env.PREPARED!)
  const docker = await openDocker()
  const { api } = daemon
  const ends: [how: string, end: (engine: NamespaceEngine) => Promise<void>][] = [
    ['stopped', (engine) => engine.stop()],
    ['killed', (engine) => engine.kill()],
  ]

  for (const [how, end] of ends) {
    test(`a run fails if Docker is ${how} and started, and its error names the restart`, async (t) => {
      const { id } = await requestJob(api, worker.name, {
        command: 'echo begun; while true; do sleep 0.1; done',
      })
      await untilLogged(api, id, 'begun')
      await end(engine)
      await engine.start()
      const run = await clearedJob(api, id)

      t.diagnostic(run.error)
      assert.equal(run.status, 'failed')
      assert.match(run.error, /: the Docker engine was restarted$/)
      assert.ok(run.exit_code > 128)
      assert.deepEqual(await output(api, id), ['begun'])
      assert.deepEqual(await jobContainers(docker, daemon), [])
      assert.equal((await runJob(api, worker.name, 'true')).status, 'succeeded')
    })
  }

  test('a run that is requested while Docker is down runs once when it is back', async () => {
    await engine.stop()
    const { id } = await requestJob(api, worker.name, { command: 'echo once' })
    await untilLogged(api, id, 'waiting for the Docker engine, which does not respond')
    await engine.start()
    assert.equal((await clearedJob(api, id)).status, 'succeeded')
    assert.deepEqual(await output(api, id), ['once'])
  })
}

if (isInside) await inside()
else outside(await whyNoNamespace())
