// What only the classic builder does: a memory limit, no secrets, and containers of its steps.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ImageBuilder } from '../../../src/docker/build/build.ts'
import { createClassic } from '../../../src/docker/build/build-classic.ts'
import { openBuildGuard } from '../../../src/docker/build/build-guard.ts'
import { buildContainers, drivers, prepareBuild, unlimited } from '../../support/docker/build-site.ts'
import { type DockerSite, openDockerSite, until } from '../../support/docker/docker-site.ts'

/** Only root can read which process the kernel killed at a limit. */
const skip = process.getuid?.() === 0 ? false : 'needs root'

test('a step that exceeds the memory limit is named with it; one within it is built', {
  skip,
}, async (t) => {
  const site = await openDockerSite(t)
  const builder = limited(site)
  const { request } = prepareBuild(t, site.owner, {
    Dockerfile: `FROM ${site.images.busybox}\nRUN echo small`,
  })
  const greedy = prepareBuild(t, site.owner, {
    Dockerfile: `FROM ${site.images.busybox}\nRUN tail /dev/zero`,
  })

  await builder.build(request)
  const refusal = builder.build(greedy.request)

  await assert.rejects(refusal, {
    code: 'build_failed',
    message: 'RUN tail /dev/zero was killed at the memory limit of builds, 32 MiB (--build-memory-limit)',
  })
})

test('a Dockerfile that mounts a secret fails and names the builder it needs', async (t) => {
  const site = await openDockerSite(t)
  const step = 'cat /run/secrets/TOKEN'
  const { request } = prepareBuild(t, site.owner, {
    Dockerfile: `FROM ${site.images.busybox}\nRUN --mount=type=secret,id=TOKEN ${step}`,
  })

  const building = drivers.classic(site).build({ ...request, secrets: [{ key: 'TOKEN', value: 'x' }] })

  await assert.rejects(building, {
    code: 'build_failed',
    message: `RUN ${step}: the --mount option requires BuildKit (--builder buildkit)`,
  })
})

test('an aborted build leaves no container', async (t) => {
  const site = await openDockerSite(t)
  const Dockerfile = `FROM ${site.images.busybox}\nRUN echo ${site.owner.prefix} && sleep 600`
  const { request, lines } = prepareBuild(t, site.owner, { Dockerfile })
  const abort = new AbortController()
  const building = drivers.classic(site).build({ ...request, signal: abort.signal })
  building.catch(() => {})
  await until('its step runs', () => lines.some((line) => line.includes('Running in')))

  abort.abort(new Error('canceled'))

  await assert.rejects(building, /^Error: canceled$/)
  await until('the engine to remove it', async () => (await buildContainers(site)).length === 0)
})

/** Without a guard: the engine alone limits each step, as it does for a daemon that is not root. */
function limited({ engine, owner }: DockerSite): ImageBuilder {
  const guard = openBuildGuard('tcp://elsewhere', owner, { memoryMb: 32, cpus: 0.5, pids: null })
  return createClassic(engine, { ...unlimited(owner), guard })
}
