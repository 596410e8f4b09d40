// Rollbacks on a real engine: the earlier image with the earlier settings and env.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Body } from '../support/daemon/api.ts'
import { dockerfile, fetchPage, finishedDeploy, pageApp } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { long } from '../support/system/drill-size.ts'

const suite = daemonSuite({ args: ['--keep-images=2'] })

/** Shows its built-in version, and a variable given at the start. */
async function shopApp(version: string): Promise<Record<string, string>> {
  const serve = 'echo "$SHOP" > /www/shop; trap "exit 0" TERM; httpd -f -p ${PORT} -h /www & wait'
  return {
    Dockerfile: await dockerfile('COPY www /www', `CMD ["sh", "-c", ${JSON.stringify(serve)}]`),
    'www/index.html': version,
  }
}

async function view(name: string): Promise<string> {
  const pages = [await fetchPage(suite.api, name), await fetchPage(suite.api, name, '/shop')]
  return pages.map((page) => page.trim()).join(' ')
}

test('a rollback serves the image, the settings and the env of its target deploy', async (t) => {
  const { api } = suite
  const service = await createService(t, api, await shopApp('one'), {
    env: [{ key: 'SHOP', value: 'red' }],
    memory_limit_mb: 64,
  })
  await api.call('PATCH', `/services/${service.name}/env`, { set: [{ key: 'SHOP', value: 'blue' }] })
  await api.call('PATCH', `/services/${service.name}`, { memory_limit_mb: 128 })
  await service.deploy(await shopApp('two'))
  assert.equal(await view(service.name), 'two blue')

  const requested = await api.post(`/services/${service.name}/rollback`, { deploy_id: service.first.id })
  const back = await finishedDeploy(api, requested.id)

  assert.deepEqual([back.status, back.trigger, back.image], ['live', 'rollback', service.first.image])
  assert.equal(back.commit_sha, service.first.commit_sha)
  assert.equal(await view(service.name), 'one red')
  const { instances } = await api.get(`/services/${service.name}/status`)
  const live = instances.find(({ deploy_id }: Body) => deploy_id === back.id)
  assert.equal(live.memory_limit_bytes, 64 * 1024 * 1024)
  // Settings are unchanged: the next deploy uses them again.
  const restarted = await api.post(`/services/${service.name}/restart`)
  await finishedDeploy(api, restarted.id)
  assert.equal(await view(service.name), 'one blue')
})

long('a previous version whose image was removed by retention is refused, with the reason', async (t) => {
  const { api } = suite
  const service = await createService(t, api, await pageApp('one'))
  for (const text of ['two', 'three', 'four']) await service.deploy(await pageApp(text))

  const { status, body } = await api.call('POST', `/services/${service.name}/rollback`, {
    deploy_id: service.first.id,
  })
  assert.deepEqual([status, body.code], [400, 'invalid_request'])
  assert.match(body.detail, /the newest 2 of a service are kept/)
  assert.equal(await fetchPage(api, service.name), 'four')
})
