// Starts during which the engine is killed, on a separate engine: its runtime is paused at each step of a
// start, the engine is killed there, and the next engine has to start the same container.
import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Instances, openInstances } from '../../../src/docker/containers/instances.ts'
import type { InstanceSpec } from '../../../src/docker/containers/spec.ts'
import { jobKind } from '../../../src/docker/engine/names.ts'
import { specMaker, testOwner, until } from '../../support/docker/docker-site.ts'
import { baseImages } from '../../support/docker/images.ts'
import { startKillableEngine, whyNoKillableEngine } from '../../support/docker/killable-engine.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'
import { sized } from '../../support/system/drill-size.ts'
import { findProcesses } from '../../support/system/processes.ts'

const options = { skip: whyNoKillableEngine }

/** Where the runtime is paused. The last one has started the command. */
const moments = ['before-create', 'after-create', 'before-start', 'after-start']
for (const moment of sized(['after-start'], moments)) {
  test(
    `after a start that the engine did not survive (${moment}) a service runs once`,
    options,
    async (t) => {
      const { instances, spec, killDuring } = await openSite(t)
      const [service, job] = [await spec(1), await spec(2, { kind: jobKind })]
      await killDuring(moment, [service, job])
      const lost = await Promise.all([service, job].map(({ name }) => instances.inspect(name)))
      for (const found of lost) assert.deepEqual([found?.state, found?.startedAt], ['created', null])

      const started = await instances.ensure(service)
      const ran = instances.ensure(job)

      assert.equal(started.state, 'running')
      // Its command may have run.
      await assert.rejects(ran, { code: 'docker_error', message: /engine was killed/ })
      assert.equal((await findProcesses(sleeping(1))).length, 1)
      assert.equal((await findProcesses(sleeping(2))).length, 0)
      assert.equal(await instances.inspect(job.name), null)
    },
  )
}

/** Unique, so that the processes can be distinguished. */
const sleeping = (index: number) => `sleep 8642${index}${process.pid}`

interface Site {
  instances: Instances
  /** An instance that runs a process of its own, by which it can be found. */
  spec(index: number, changes?: Partial<InstanceSpec>): Promise<InstanceSpec>
  /** Kills the engine while the runtime of each start is paused, and starts it again. */
  killDuring(moment: string, specs: InstanceSpec[]): Promise<void>
}

async function openSite(t: TestContext): Promise<Site> {
  const directory = temporaryDirectory(t)
  const runtime = join(directory, 'runtime')
  const held = join(directory, 'held')
  writeFileSync(runtime, heldRuntime(directory), { mode: 0o755 })
  const engine = await startKillableEngine(t, [`--add-runtime=held=${runtime}`, '--default-runtime=held'])
  const owner = testOwner()
  const instances = openInstances(engine.engine, owner)
  const make = specMaker(engine.engine, owner, await baseImages())
  return {
    instances,
    spec: (index, changes) => make({ command: `exec ${sleeping(index)}`, ...changes }),
    async killDuring(moment, specs) {
      writeFileSync(held, '')
      writeFileSync(join(directory, moment), '')
      const starts = specs.map((spec) => instances.ensure(spec))
      const lost = Promise.allSettled(starts)
      await until('the starts to be held', () => readFileSync(held, 'utf8').length === 2 * specs.length)
      await engine.kill()
      for (const { status } of await lost) assert.equal(status, 'rejected')
      await engine.start()
      rmSync(join(directory, moment))
    },
  }
}

/** A runtime that waits before or after a step of its work for as long as there is a file called so. */
function heldRuntime(directory: string): string {
  return `#!/bin/sh
for step; do case $step in create|start) break; esac; done
wait_while() {
  [ -e "${directory}/$1" ] && echo x >>"${directory}/held"
  while [ -e "${directory}/$1" ]; do sleep 0.05; done
}
wait_while "before-$step"
runc "$@"
code=$?
wait_while "after-$step"
exit $code
`
}
