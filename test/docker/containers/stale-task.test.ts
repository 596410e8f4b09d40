// A start that the end of the engine interrupted leaves a shim and its process, which has the address of the
// container. Here another program plays the shim.
import { equal } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { ownerLabels } from '../../../src/docker/engine/names.ts'
import { openDockerSite, until } from '../../support/docker/docker-site.ts'
import { childrenOf } from '../../support/edge/edge-chaos.ts'

const child = "child_process.spawn('sleep', ['600'])"

test('what is left of an interrupted start ends with its container', async (t) => {
  const { engine, owner, instances, images } = await openDockerSite(t)
  const name = `${owner.prefix}-web`
  const options = { name, Image: images.busybox, Cmd: ['true'], Labels: ownerLabels(owner) }
  const { id } = await engine.docker.createContainer(options)
  const shims = [id, 'another'].map((of) =>
    spawn(process.execPath, ['-e', child, '--', '-id', of], { argv0: 'containerd-shim-test' }),
  )
  t.after(() => {
    for (const shim of shims) shim.kill('SIGKILL')
  })
  const [shim, other] = shims as [(typeof shims)[0], (typeof shims)[0]]
  const [[task], [otherTask]] = await until('the tasks', () => {
    const found = shims.map(({ pid }) => childrenOf(pid!))
    return found.every(({ length }) => length === 1) && (found as [[number], [number]])
  })
  t.after(() => process.kill(otherTask, 'SIGKILL'))

  await instances.remove(name)

  await until('the end of the shim', () => shim.exitCode !== null || shim.signalCode !== null)
  await until('the end of its task', () => !existsSync(`/proc/${task}`))
  equal(other.exitCode ?? other.signalCode, null)
  equal(existsSync(`/proc/${otherTask}`), true)
})
