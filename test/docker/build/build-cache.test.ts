// On an engine of its own: what is pruned is the whole engine's cache.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { openBuildCache } from '../../../src/docker/build/build-cache.ts'
import { createBuildKit } from '../../../src/docker/build/build-kit.ts'
import type { Engine } from '../../../src/docker/engine/client.ts'
import { prepareBuild, unlimited } from '../../support/docker/build-site.ts'
import { testOwner, until } from '../../support/docker/docker-site.ts'
import { baseImages } from '../../support/docker/images.ts'
import { startKillableEngine, whyNoKillableEngine } from '../../support/docker/killable-engine.ts'
import { long } from '../../support/system/drill-size.ts'

const mebibyte = 1024 * 1024

long(
  'a build prunes the build cache to its size, and nothing else',
  {
    skip: whyNoKillableEngine,
  },
  async (t) => {
    const { engine } = await startKillableEngine(t)
    const { busybox } = await baseImages()
    const owner = testOwner()
    const pruned: number[] = []
    const problem: string[] = []
    const options = { onPruned: (bytes: number) => pruned.push(bytes), onProblem: problem.push.bind(problem) }
    const buildWith = async (sizeMb: number | null, word: string) => {
      const cache = openBuildCache(engine, { sizeMb, ...options, idleMs: 0 })
      const fill = `head -c 30000000 /dev/urandom > /c/${word}`
      const Dockerfile = `FROM ${busybox}\nRUN --mount=type=cache,target=/c ${fill}\nRUN true ${word}`
      const { request } = prepareBuild(t, owner, { Dockerfile })
      const id = { tag: `${owner.prefix}/web:${word}`, cacheNamespace: `${word}-` }
      await cache.during(() => createBuildKit(engine, unlimited(owner)).build({ ...request, ...id }))
    }
    const volume = await engine.docker.createVolume({ Name: 'kept' })

    await buildWith(null, 'one')
    await buildWith(null, 'two')
    await buildWith(null, 'three')
    const before = await cacheBytes(engine)
    await buildWith(64, 'four')
    await until('the end of the prune', () => pruned.length + problem.length > 0)
    const after = await cacheBytes(engine)

    assert.ok(before > 85 * mebibyte, String(before))
    assert.ok(after <= 64 * mebibyte, String(after))
    assert.deepEqual(problem, [])
    assert.ok(pruned[0]! > 25 * mebibyte, String(pruned))
    const tags = (await engine.docker.listImages()).flatMap(({ RepoTags }) => RepoTags ?? [])
    for (const word of ['one', 'two', 'three', 'four'])
      assert.ok(tags.includes(`${owner.prefix}/web:${word}`))
    assert.equal((await volume.inspect()).Name, 'kept')
  },
)

test('a cache that cannot be pruned fails no build, and pruning is not retried soon', async () => {
  const problem: string[] = []
  const broken = { call: () => Promise.reject(new Error('no response')) } as unknown as Engine
  const options = { sizeMb: 64, onPruned: () => assert.fail(), idleMs: 0 }
  const cache = openBuildCache(broken, { ...options, onProblem: (reason) => problem.push(reason) })

  assert.equal(await cache.during(async () => 'image'), 'image')
  await until('the prune', () => problem.length > 0)
  assert.equal(await cache.during(async () => 'other'), 'other')
  await setTimeout(20)

  assert.deepEqual(problem, ['no response'])
})

async function cacheBytes({ docker }: Engine): Promise<number> {
  const usage: { BuildCache: { Size: number; Shared: boolean }[] } = await docker.df()
  return usage.BuildCache.filter(({ Shared }) => !Shared).reduce((sum, { Size }) => sum + Size, 0)
}
