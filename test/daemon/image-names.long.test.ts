// Images are private to their service, and those of the former version become so while they are in use.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { restoreFormerNames } from '../support/daemon/former-names.ts'
import { finishedJob, openDocker, output, requestJob, untilLogged } from '../support/daemon/jobs.ts'
import { findLeftovers } from '../support/daemon/leftovers.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { dockerfile, fetchPage, finishedDeploy, pageApp } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'
import { edgeApp } from '../support/edge/edge-app.ts'
import { startLoad } from '../support/edge/edge-load.ts'
import { openEdgeSite } from '../support/edge/edge-site.ts'
import { long } from '../support/system/drill-size.ts'

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

long('an upgrade renames what runs without a failed request, and earlier versions stay usable', async (t) => {
  const { api } = daemon
  const service = await createService(t, api, await edgeApp('one'))
  const two = await service.deploy(await edgeApp('two'))
  const neighbour = await createService(t, api, await pageApp('neighbour'))
  const job = await requestJob(api, service.name, { command: 'echo begun; sleep 20; echo over' })
  await untilLogged(api, job.id, 'begun')
  await daemon.kill()
  await restoreFormerNames(daemon)
  const former = `${prefix}/${service.name}:${two.id}`
  const foreign = `${former}x`
  await docker.getImage(former).tag({ repo: `${prefix}/${service.name}`, tag: `${two.id}x` })
  const before = await look()

  const load = startLoad(t, site.placeOf(service))
  await load.round()
  await daemon.start()
  await load.round()

  const after = await look()
  assert.deepEqual(after.running, before.running, 'no container was restarted or replaced')
  assert.deepEqual(
    [before, after].map(({ names }) => names.filter((name) => ulid.test(name)).length > 0),
    [true, false],
  )
  const images = (await findLeftovers(prefix)).images.filter((name) => name.includes(`/${service.name}:`))
  assert.deepEqual(images, [service.first.image, two.image, foreign].sort())
  assert.deepEqual((await daemon.api.get(`/deploys/${two.id}`)).image, two.image)
  const found = await lookUpNeighbours(neighbour.name)
  assert.match(found, new RegExp(`name = ${prefix}-${service.name}-`), found)
  assert.doesNotMatch(found, ulid)
  const run = await finishedJob(daemon.api, job.id)
  assert.deepEqual([run.status, run.image], ['succeeded', two.image], run.error)
  assert.deepEqual(await output(daemon.api, job.id), ['begun', 'over'])
  const requested = await daemon.api.post(`/services/${service.name}/rollback`, {
    deploy_id: service.first.id,
  })
  const back = await finishedDeploy(daemon.api, requested.id)
  assert.deepEqual([back.status, back.image], ['live', service.first.image], back.error)
  await site.untilAnswers(service, 'one')
  await load.stop()
  assert.deepEqual(load.failures, [])
  assert.ok(load.answers.length > 50, `${load.answers.length} requests`)
})

/** The containers of services, and every name on the engine. */
async function look() {
  const filters = { label: [`berth.instance=${prefix}`] }
  const containers = await docker.listContainers({ all: true, filters })
  const ofServices = containers.filter(({ Labels }) => Labels['berth.service-id'])
  const running = await Promise.all(
    ofServices.map(async ({ Id }) => [Id, (await docker.getContainer(Id).inspect()).State.StartedAt]),
  )
  return { running: running.sort(), names: (await findLeftovers(prefix)).containers }
}
