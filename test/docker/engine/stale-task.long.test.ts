// A start that the engine did not survive, in a namespace: its runtime is paused when it has started the
// command, the engine is killed there, and the next engine has to start the same container.
import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openInstances } from '../../../src/docker/containers/instances.ts'
import { openEngine } from '../../../src/docker/engine/client.ts'
import { jobKind } from '../../../src/docker/engine/names.ts'
import { fileScope } from '../../support/daemon/scope.ts'
import { specMaker, testOwner, until } from '../../support/docker/docker-site.ts'
import { busyboxImage } from '../../support/docker/images.ts'
import { loadImage, startNamespaceEngine } from '../../support/docker/namespace-engine.ts'
import { testInside } from '../../support/docker/namespace-test.ts'
import { isInside, openNetwork } from '../../support/system/namespace.ts'
import { findProcesses } from '../../support/system/processes.ts'

const scope = fileScope()

/** An engine whose runtime waits after each start for as long as `held` exists. */
async function openSite(directory: string) {
  await openNetwork('10.99.0.1')
  const [runtime, held] = [join(directory, 'runtime'), join(directory, 'held')]
  const program = `#!/bin/sh
runc "$@"
code=$?
case " $* " in *" start "*)
  [ -e ${held} ] && echo x >>${held}
  while [ -e ${held} ]; do sleep 0.05; done
esac
exit $code
`
  writeFileSync(runtime, program, { mode: 0o755 })
  const options = [`--add-runtime=held=${runtime}`, '--default-runtime=held']
  const server = await startNamespaceEngine(join(directory, 'engine'), options)
  scope.after(() => server.stop())
  process.env.DOCKER_HOST = server.address
  await loadImage(server.address, join(directory, 'busybox.tar'))
  const engine = openEngine(server.address)
  scope.after(() => engine.close())
  const owner = testOwner()
  const instances = openInstances(engine, owner)
  return {
    instances,
    makeSpec: specMaker(engine, owner, { busybox: await busyboxImage() }),
    async killDuring(starts: () => Promise<unknown>[]) {
      writeFileSync(held, '')
      const begun = starts()
      const lost = Promise.allSettled(begun)
      await until('the starts to be held', () => readFileSync(held, 'utf8').length === 2 * begun.length)
      await server.kill()
      for (const { status } of await lost) assert.equal(status, 'rejected')
      await server.start()
      rmSync(held)
    },
  }
}

async function inside(): Promise<void> {
  const { instances, makeSpec, killDuring } = await openSite(process.env.PREPARED!)

  test('a service runs once after it, and a job is not run again', async (t) => {
    const service = await makeSpec({ command: 'exec sleep 86421' })
    const job = await makeSpec({ command: 'exec sleep 86422', kind: jobKind })
    t.after(() => instances.remove(service.name))
    await killDuring(() => [service, job].map((spec) => instances.ensure(spec)))
    const lost = await Promise.all([service, job].map(({ name }) => instances.inspect(name)))
    for (const found of lost) assert.deepEqual([found?.state, found?.startedAt], ['created', null])

    const started = await instances.ensure(service)
    const ran = instances.ensure(job)

    assert.equal(started.state, 'running')
    // Its command may have run.
    await assert.rejects(ran, { code: 'docker_error', message: /engine was killed/ })
    assert.equal((await findProcesses('sleep 86421')).length, 1)
    assert.equal((await findProcesses('sleep 86422')).length, 0)
    assert.equal(await instances.inspect(job.name), null)
  })

  test('its process ends with its container', async () => {
    const spec = await makeSpec({ command: 'exec sleep 86423' })
    await killDuring(() => [instances.ensure(spec)])
    assert.equal((await findProcesses('sleep 86423')).length, 1)

    await instances.remove(spec.name)

    assert.equal((await findProcesses('sleep 86423')).length, 0)
  })
}

if (isInside) await inside()
else await testInside(scope, import.meta.url, 'a start that the engine did not survive')
