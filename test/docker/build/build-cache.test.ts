// Pruning the build cache after a build, at an engine that only records what it is asked.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { openBuildCache } from '../../../src/docker/build/build-cache.ts'
import { type Engine, openEngine } from '../../../src/docker/engine/client.ts'
import { until } from '../../support/docker/docker-site.ts'
import { temporaryDirectory } from '../../support/system/directory.ts'

test('after a build the cache of the engine is pruned to its size', async (t) => {
  const asked: string[] = []
  const server = createServer(({ method, url }, response) => {
    asked.push(`${method} ${url}`)
    response.end(JSON.stringify({ ApiVersion: '1.99', SpaceReclaimed: 7 }))
  })
  const path = join(temporaryDirectory(t), 'docker.sock')
  await new Promise<void>((resolve) => server.listen(path, resolve))
  const engine = openEngine(`unix://${path}`)
  t.after(() => {
    engine.close()
    server.close()
  })
  const pruned: number[] = []
  const options = { onPruned: (bytes: number) => pruned.push(bytes), onProblem: assert.fail, idleMs: 0 }

  await openBuildCache(engine, { ...options, sizeMb: null }).during(async () => 'kept')
  await openBuildCache(engine, { ...options, sizeMb: 64 }).during(async () => 'image')
  await until('the prune', () => pruned.length > 0)

  assert.deepEqual(pruned, [7])
  const prunes = asked.filter((line) => line.includes('prune'))
  assert.equal(prunes.length, 1)
  assert.match(prunes[0]!, /^POST \S*\/build\/prune\?all=true&keep-storage=67108864$/)
})

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
