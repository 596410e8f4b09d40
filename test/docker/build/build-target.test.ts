// Building one stage of a Dockerfile, by both builders.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { drivers, openBuildSite, prepareBuild } from '../../support/docker/build-site.ts'

for (const [name, driver] of Object.entries(drivers))
  describe(`stages by ${name}`, () => {
    test('the requested stage is built, otherwise the last one', async (t) => {
      const site = await openBuildSite(t, driver)
      const { request } = prepareBuild(t, site.owner, {
        Dockerfile: `FROM ${site.images.busybox} AS Builder
ENV STAGE=builder
FROM builder AS dev-envs
ENV STAGE=dev`,
      })
      const stageOf = async (target: string | null) => {
        const { imageId } = await site.builder.build({ ...request, target })
        const { Config } = await site.engine.docker.getImage(imageId).inspect()
        return Config.Env.find((one) => one.startsWith('STAGE='))
      }

      assert.equal(await stageOf('builder'), 'STAGE=builder')
      assert.equal(await stageOf(null), 'STAGE=dev')
    })

    test('an unknown stage fails the build with a list of the stages', async (t) => {
      const site = await openBuildSite(t, driver)
      const from = `FROM ${site.images.busybox}`
      const named = prepareBuild(t, site.owner, { Dockerfile: `${from} AS builder\n${from} AS dev-envs` })
      const nameless = prepareBuild(t, site.owner, { Dockerfile: `${from}\nRUN exit 1` })

      await assert.rejects(site.builder.build({ ...named.request, target: 'prod' }), {
        code: 'build_failed',
        message: "the Dockerfile has no stage 'prod' (--build-target): its stages are builder, dev-envs",
      })
      await assert.rejects(site.builder.build({ ...nameless.request, target: 'x' }), {
        message: /no stage 'x' \(--build-target\): its stages have no names \(FROM image AS name\)$/,
      })
    })
  })
