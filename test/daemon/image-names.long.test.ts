// Images are private to their service.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { finishedJob, openDocker, output, requestJob } from '../support/daemon/jobs.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { dockerfile, fetchPage, pageApp } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'
import { openEdgeSite } from '../support/edge/edge-site.ts'

const scope = fileScope()
const site = await openEdgeSite(scope, 'container', ['--keep-images=2'])
const { daemon, prefix } = site
const docker = await openDocker()
const ulid = /[0-9a-hjkmnp-tv-z]{26}/

/** What Docker's DNS says about every container of the network, asked from a job of that service. */
async function lookUpNeighbours(service: string): Promise<string> {
  const { Containers = {} } = await docker.getNetwork(prefix).inspect()
  const addresses = Object.values(Containers as Record<string, { IPv4Address: string }>)
    .map(({ IPv4Address }) => IPv4Address.split('/')[0])
    .filter(Boolean)
  const command = addresses.map((address) => `nslookup ${address} 127.0.0.11`).join('; ')
  const { id } = await requestJob(daemon.api, service, { command: `${command}; true` })
  await finishedJob(daemon.api, id)
  return (await output(daemon.api, id)).join('\n')
}

test('what a job can look up about another service does not lead to its image', async (t) => {
  const shop = await createService(t, daemon.api, await pageApp('the secret of the shop'))
  const blog = await createService(t, daemon.api, await pageApp('blog'))

  const found = await lookUpNeighbours(blog.name)

  assert.match(found, new RegExp(`name = ${prefix}-${shop.name}-`), found)
  assert.doesNotMatch(found, ulid, 'no id can be looked up')
  const macs = [...found.matchAll(new RegExp(`${prefix}-${shop.name}-([a-z2-7]{16})`, 'g'))].map(
    ([, mac]) => mac,
  )
  const { id } = shop.first
  const tags = [id, ...macs, ...macs.map((mac) => `${id}-${mac}`), ...macs.map((mac) => `${id}.${mac}`)]
  for (const tag of new Set(tags)) {
    const image = `${prefix}/${shop.name}:${tag}`
    for (const steps of [[`FROM ${image}`], [await dockerfile(), `COPY --from=${image} /www /www`]]) {
      const deploy = await blog.deploy({ Dockerfile: steps.join('\n') })
      assert.deepEqual(
        [deploy.status, deploy.error_code],
        ['failed', 'build_failed'],
        `${image}: ${deploy.error}`,
      )
    }
  }
  // With the name itself it works: nothing else protects an image.
  const known = `COPY --from=${shop.first.image} /www/index.html /www/index.html`
  await blog.deploy({ ...(await pageApp('', known)) })
  assert.equal(await fetchPage(daemon.api, blog.name), 'the secret of the shop')
})
