// Live services that do not get what they need are degraded, and the status has the reason.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import Docker from 'dockerode'
import { dockerfile, finishedDeploy, pageApp, until } from '../support/daemon/service.ts'
import { createService, daemonSuite } from '../support/daemon/suite.ts'
import { ensureEngine } from '../support/docker/engine.ts'
import { long } from '../support/system/drill-size.ts'

const suite = daemonSuite()
const docker = new Docker({ socketPath: (await ensureEngine()).replace('unix://', '') })

test('a crash loop shows as degraded, with the restarts counted', async (t) => {
  const { api } = suite
  const files = { Dockerfile: await dockerfile() }
  // The first time, it runs until it is live, however long that takes here.
  const command = '[ -e /tmp/started ] && exit 7; touch /tmp/started; sleep 20; exit 7'
  const settings = { type: 'background_worker', start_command: command }
  const { name, first } = await createService(t, api, files, settings)
  assert.equal(first.status, 'live')
  const { reason } = await until('degraded, with a reason', async () => {
    const found = await api.get(`/services/${name}/status`)
    return found.state === 'degraded' && found.reason && found
  })
  assert.match(reason, /^(instances ended \d+ times within a minute|0 of 1 instances run)/)
})

long('a live service that cannot restore its instances shows the reason until it can', async (t) => {
  const { api } = suite
  const { name, first, request } = await createService(t, api, await pageApp('page'))
  const { instances } = await api.get(`/services/${name}/status`)
  // The image first: otherwise upkeep could recreate the container in between.
  await docker.getImage(first.image).remove({ force: true })
  await docker.getContainer(instances[0].container_id).remove({ force: true })

  // At first the reason may only be that no instance runs.
  await until('degraded, with the image as the reason', async () => {
    const found = await api.get(`/services/${name}/status`)
    return found.state === 'degraded' && /image/i.test(found.reason)
  })

  assert.equal((await finishedDeploy(api, (await request()).id)).status, 'live')
  const after = await api.get(`/services/${name}/status`)
  assert.deepEqual([after.state, after.reason], ['live', null])
})
