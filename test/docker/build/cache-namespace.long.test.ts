// The namespace of cache mounts, as BuildKit applies it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drivers, openBuildSite, prepareBuild } from '../../support/docker/build-site.ts'

test('builds share a cache mount only with the same namespace, whatever their arguments say', async (t) => {
  const site = await openBuildSite(t, drivers.buildkit)
  const [first, second] = [`${site.owner.prefix}-1`, `${site.owner.prefix}-2`]
  const run = async (cacheNamespace: string, command: string, buildArgs = {}) => {
    const Dockerfile = `FROM ${site.images.busybox}
RUN : ${Math.random()}
RUN --mount=type=cache,id=x,target=/cache ${command}`
    const { request, lines } = prepareBuild(t, site.owner, { Dockerfile })
    await site.builder.build({ ...request, cacheNamespace, buildArgs })
    return lines.filter((line) => line.startsWith('stdout')).map((line) => line.slice('stdout '.length))
  }
  const read = 'cat /cache/file || echo nothing'

  await run(first, 'echo secret > /cache/file')

  assert.deepEqual(await run(first, read), ['secret'])
  assert.deepEqual(await run(second, read), ['nothing'])
  assert.deepEqual(await run(second, read, { BUILDKIT_CACHE_MOUNT_NS: first }), ['nothing'])
})
