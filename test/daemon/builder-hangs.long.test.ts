// BuildKit hangs permanently under a running or restarted daemon: deploys continue with the classic builder,
// and one that needs BuildKit fails with the reason. Detecting the hang takes a minute.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { runBerth } from '../support/cli/berth.ts'
import { startDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import { fetchPage, finishedDeploy, logLines, pageApp, until } from '../support/daemon/service.ts'
import { createService, type TestService } from '../support/daemon/suite.ts'
import { openHungBuilder } from '../support/docker/hung-builder.ts'
import { siteServerImage } from '../support/docker/server-images.ts'

const site = { type: 'static_site', deploy: false }

test('deploys survive a permanently hanging BuildKit', async (t) => {
  const door = await openHungBuilder(t)
  const args = [
    `--docker=${door.address}`,
    '--build-concurrency=1',
    `--static-image=${await siteServerImage()}`,
  ]
  const daemon = await startDaemon(t, { args })
  const open = (files: Record<string, string>, settings: object = { deploy: false }) =>
    createService(t, daemon.api, files, settings)
  const needing = await open(await pageApp('needing', 'RUN --mount=type=cache,target=/c true'))
  const plain = await open(await pageApp('plain', 'RUN true'))
  const page = await open({ 'index.html': 'site' }, site)

  door.hang()
  const request = ({ name }: TestService) => daemon.api.post(`/services/${name}/deploys`, {})
  const refused = await request(needing)
  await until('its build to hang', async () => door.held() > 0)
  await daemon.kill()
  await daemon.start()
  const others = [await request(plain), await request(page)]

  for (const { id } of others) {
    assert.equal((await finishedDeploy(daemon.api, id)).status, 'live')
    const lines = await logLines(daemon.api, id)
    assert.ok(
      lines.some((line) => /^the Docker engine's BuildKit (hangs|has been hanging since)/.test(line)),
      lines.join('\n'),
    )
  }
  assert.equal(await fetchPage(daemon.api, plain.name), 'plain')
  const { status, error } = await finishedDeploy(daemon.api, refused.id)
  assert.equal(status, 'failed')
  assert.equal(error, "the Docker engine's BuildKit hangs, and the Dockerfile needs BuildKit (RUN --mount)")
  await requireReport(t, daemon, refused.id)

  door.recover()
  await until('it works', async () => (await daemon.api.get('/info')).builds.hangs_since === null)
  assert.equal((await finishedDeploy(daemon.api, (await request(needing)).id)).status, 'live')
})

/** Every place where a user may look for the reason. */
async function requireReport(t: TestContext, daemon: TestDaemon, deployId: string): Promise<void> {
  const { builds } = await daemon.api.get('/info')
  assert.ok(Date.parse(builds.hangs_since))
  const health = await fetch(new URL('/healthz?verbose', daemon.api.url))
  assert.equal(await health.text(), 'degraded\nbuilder_hangs')
  const why = await runBerth(t, ['why', deployId], { daemon })
  assert.match(why.stdout, /the Docker engine's BuildKit hangs/)
  assert.match(
    (await runBerth(t, ['info'], { daemon })).stdout,
    /builder +BuildKit has been hanging since \d{4}-/,
  )
}
