// An end that the engine did not see, in a namespace. An engine that is killed between two steps, when a
// container has ended, knows of no task any more, and says at its next start that it ended by itself with 0.
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { explainExit } from '../../../src/docker/containers/exit-explanation.ts'
import { openInstances } from '../../../src/docker/containers/instances.ts'
import { openOneShotContainers } from '../../../src/docker/containers/one-shot-containers.ts'
import { openEngine } from '../../../src/docker/engine/client.ts'
import { jobKind } from '../../../src/docker/engine/names.ts'
import { fileScope } from '../../support/daemon/scope.ts'
import { specMaker, testOwner, until } from '../../support/docker/docker-site.ts'
import { busyboxImage } from '../../support/docker/images.ts'
import { loadImage, startNamespaceEngine } from '../../support/docker/namespace-engine.ts'
import { testInside } from '../../support/docker/namespace-test.ts'
import { isInside, openNetwork } from '../../support/system/namespace.ts'
import { findProcesses, findProcessesWith } from '../../support/system/processes.ts'

const scope = fileScope()

async function openSite(directory: string) {
  await openNetwork('10.99.0.1')
  const server = await startNamespaceEngine(join(directory, 'engine'))
  scope.after(() => server.stop())
  await loadImage(server.address, join(directory, 'busybox.tar'))
  const engine = openEngine(server.address)
  scope.after(() => engine.close())
  const owner = testOwner()
  const busybox = await busyboxImage()
  const killAll = async (command: string) => {
    await server.kill()
    const shims = await findProcessesWith(`-address ${join(directory, 'engine')}`)
    assert.ok(shims.length > 0)
    for (const pid of [...shims, ...(await findProcesses(command))]) process.kill(Number(pid), 'SIGKILL')
    // In containerd, the task is deleted first.
    const tasks = 'engine/data/containerd/daemon/io.containerd.metadata.v1.bolt'
    rmSync(join(directory, tasks), { recursive: true })
    await server.start()
  }
  return {
    server,
    killAll,
    busybox,
    instances: openInstances(engine, owner),
    tools: openOneShotContainers(engine, owner),
    makeSpec: specMaker(engine, owner, { busybox }),
  }
}

async function inside(): Promise<void> {
  const { server, killAll, busybox, instances, tools, makeSpec } = await openSite(process.env.PREPARED!)

  test('a command is not said to have succeeded', async () => {
    const job = await makeSpec({ command: 'exec sleep 86431', kind: jobKind })
    await instances.ensure(job)
    await killAll('sleep 86431')

    const exit = await instances.inspectExit(job.name)

    assert.ok(exit)
    assert.notEqual(exit.exitCode, 0)
    if (exit.exitCode === null)
      assert.match(explainExit(exit, { command: null }), /engine was restarted: how it ended is unknown$/)
  })

  test('a tool is not said to have succeeded', async () => {
    const id = 'bak-01hzy7k9m0000000000000test'
    const limits = { memoryLimitMb: 64, cpuLimit: 1, pidsLimit: 64 }
    const argv = ['sleep', '86432']
    const running = tools.run(
      { id, image: busybox, argv, env: {}, networkOf: null, ...limits },
      {},
      new AbortController().signal,
    )
    running.catch(() => undefined)
    await until('it to run', async () => (await findProcesses('sleep 86432')).length > 0)
    await killAll('sleep 86432')

    await assert.rejects(running, { code: 'docker_unavailable' })
  })

  test('an end that the engine saw keeps its exit code, also after a restart', async () => {
    const job = await makeSpec({ command: 'exit 0', kind: jobKind })
    await instances.ensure(job)
    await until('its end', async () => (await instances.inspect(job.name))?.state === 'exited')
    await server.kill()
    await server.start()
    assert.equal((await instances.inspectExit(job.name))?.exitCode, 0)
  })
}

if (isInside) await inside()
else await testInside(scope, import.meta.url, 'an end that the engine did not see')
