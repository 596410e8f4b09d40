// Base images of a private registry, with each builder.
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { drivers, openBuildSite, prepareBuild } from '../../support/docker/build-site.ts'
import { account, startRegistry } from '../../support/docker/registry.ts'
import { long } from '../../support/system/drill-size.ts'

for (const [name, driver] of Object.entries(drivers)) {
  const testBuild = name === 'buildkit' ? test : long
  describe(`builds by ${name}`, () => {
    testBuild(
      'a private base image is pulled with the credentials of its registry',
      async (t: TestContext) => {
        const site = await openBuildSite(t, driver)
        const registry = await startRegistry(t, { isPrivate: true })
        await registry.push('base:v1', 'from the base')
        const Dockerfile = `FROM ${registry.host}/base:v1\nRUN cat /www/index.html`
        const { request, lines } = prepareBuild(t, site.owner, { Dockerfile })
        const other = { host: 'registry.example.com', username: 'ada', password: 'another' }

        await site.builder.build({ ...request, registries: [other, { host: registry.host, ...account }] })

        assert.ok(lines.includes('stdout from the base'), lines.join('\n'))
        assert.ok(!lines.some((line) => line.includes(account.password)))
      },
    )

    testBuild(
      'without credentials, or with wrong ones, the failure names the base image',
      async (t: TestContext) => {
        const site = await openBuildSite(t, driver)
        const registry = await startRegistry(t, { isPrivate: true })
        await registry.push('base:v1', 'from the base')
        const { request, lines } = prepareBuild(t, site.owner, {
          Dockerfile: `FROM ${registry.host}/base:v1`,
        })
        const wrong = { host: registry.host, username: account.username, password: 'canary-wrong' }

        for (const registries of [[], [wrong]]) {
          await assert.rejects(site.builder.build({ ...request, registries }), (error: Error) => {
            assert.ok(
              error.message.startsWith(`the base image ${registry.host}/base:v1 cannot be obtained: `),
            )
            assert.match(error.message, /; berth registries add HOST stores credentials/)
            return !error.message.includes(wrong.password)
          })
        }
        assert.ok(!lines.some((line) => line.includes(wrong.password)), lines.join('\n'))
      },
    )
  })
}
