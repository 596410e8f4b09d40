import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainExit, isOutOfMemory } from '../../../src/docker/containers/exit-explanation.ts'
import { type DockerSite, openDockerSite, until } from '../../support/docker/docker-site.ts'

test('a process that exceeds the memory limit is reported as killed for it, with its limit', async (t) => {
  const site = await openDockerSite(t)

  const state = await runToEnd(site, 'exec tail /dev/zero')

  assert.equal(isOutOfMemory(state), true)
  assert.equal(
    explainExit(state, { command: null }),
    'was killed for using more than its memory limit of 16 MiB',
  )
})

test('a child killed for memory is not mistaken for the instance', async (t) => {
  const site = await openDockerSite(t)

  const state = await runToEnd(site, 'tail /dev/zero; exit 3')

  assert.deepEqual([state.exitCode, isOutOfMemory(state)], [3, false])
  assert.match(
    explainExit(state, { command: null }),
    /^exited with code 3, after one of its processes was killed/,
  )
})

test('a plain SIGKILL is not mistaken for an out-of-memory kill', async (t) => {
  const site = await openDockerSite(t)

  const state = await runToEnd(site, 'exec sh -c "kill -9 $$"')

  assert.deepEqual([state.exitCode, isOutOfMemory(state)], [137, false])
})

async function runToEnd({ instances, spec }: DockerSite, command: string) {
  const wanted = await spec({ command, memoryLimitMb: 16 })
  await instances.ensure(wanted)
  await until('it ends', async () => (await instances.inspect(wanted.name))?.state === 'exited')
  const state = await instances.inspectExit(wanted.name)
  assert.ok(state)
  return state
}
