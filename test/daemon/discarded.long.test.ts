// A discarded deploy of a service with a disk: the next deploy gets the disk without manual cleanup.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { openStorage } from '../../storage/index.ts'
import type { Api, Body } from '../support/daemon/api.ts'
import { launchDaemon, type TestDaemon } from '../support/daemon/daemon.ts'
import { fileScope } from '../support/daemon/scope.ts'
import { dockerfile, fetchPage, finishedDeploy, until } from '../support/daemon/service.ts'
import { createService } from '../support/daemon/suite.ts'

const scope = fileScope()
let daemon: TestDaemon
let api: Api

before(async () => {
  daemon = await launchDaemon()
  scope.after(() => daemon.remove())
  api = daemon.api
})

/** Parks it like the supervisor, while no daemon runs. */
async function park(id: string): Promise<void> {
  await daemon.stop()
  const storage = await openStorage(daemon.dataDir, { onPanic: assert.fail })
  await storage.actors.park(id, 'an error of ours', new Date().toISOString())
  await storage.close()
  await daemon.start()
  api = daemon.api
}

async function says(deployId: string, text: string): Promise<boolean> {
  for await (const { event, data } of api.events(`/deploys/${deployId}/logs?follow=true`)) {
    if (event === 'end') return false
    if (JSON.parse(data).line.startsWith(text)) return true
  }
  return false
}

test('a deploy waits for the disk of a parked deploy, and gets it once that is discarded', async (t) => {
  const start_command =
    'cd /data; [ ! -e lock ] || touch shared; touch lock; echo x >> count; ' +
    'trap "rm lock; exit 0" TERM; httpd -f -p $PORT & wait'
  const settings = { disk_mount_path: '/data', start_command, health_check_timeout_seconds: 60 }
  const { name, first } = await createService(t, api, { Dockerfile: await dockerfile() }, settings)
  assert.equal(first.status, 'live', first.error)
  await park(first.id)
  const running = async (id: string) => {
    const { instances } = await api.get(`/services/${name}/status`)
    return instances.filter(({ deploy_id }: Body) => deploy_id === id).length
  }

  const next = await api.post(`/services/${name}/deploys`)
  await until('that it waits', () => says(next.id, `the disk is held by ${first.id}`))
  assert.equal(await running(first.id), 1, 'a parked deploy keeps what it started')
  await api.post(`/actors/${first.id}/discard`)

  const live = await finishedDeploy(api, next.id)
  assert.equal(live.status, 'live', live.error)
  assert.equal(await running(first.id), 0)
  assert.equal(await fetchPage(api, name, '/count'), 'x\nx\n')
  assert.match(await fetchPage(api, name, '/shared'), /404/)
})
