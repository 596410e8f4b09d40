// Restarts, over HTTP and a real store: what could not run again is refused before anything starts.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startChecked } from '../support/http/checked-api.ts'

/** A live service whose image was removed. */
async function serviceWithoutImage(t: TestContext) {
  const api = await startChecked(t)
  await api.create({ name: 'web', repo_url: 'https://git.test/owner/name' })
  const { id } = (await api.get('web')).latest_deploy!
  await api.setDeploy(id, { status: 'live', image: 'berth/web:dep-gone' })
  const restart = () => api.call('POST', '/services/web/restart')
  const deploy = async () => (await api.call('POST', '/services/web/deploys')).body.id as string
  return { ...api, restart, deploy }
}

test('a restart without its image is refused, with the command that builds it again', async (t) => {
  const { call, get, restart } = await serviceWithoutImage(t)
  const before = await get('web')

  const { status, body } = await restart()
  const saved = await call('PATCH', '/services/web/env?restart=true', { set: [] })

  assert.deepEqual([status, body.code], [409, 'conflict'])
  assert.match(
    String(body.detail),
    /the live image berth\/web:dep-gone no longer exists: it was removed from Docker$/,
  )
  assert.equal(body.hint, 'berth deploy web builds it again')
  assert.deepEqual([saved.status, saved.body.hint], [409, body.hint])
  assert.deepEqual((await get('web')).latest_deploy, before.latest_deploy)
})

test('a restart does not need the live image while a newer deploy is queued or active', async (t) => {
  const { restart, deploy, setDeploy } = await serviceWithoutImage(t)

  const next = await deploy()
  assert.equal((await restart()).body.id, next)
  await setDeploy(next, { status: 'running' })
  assert.deepEqual([(await restart()).status, (await restart()).body.trigger], [202, 'restart'])
})

test('a restart is queued if the existence of its image is unknown', async (t) => {
  const { context, restart } = await serviceWithoutImage(t)
  context.observe = { ...context.observe, hasImage: async () => null }

  assert.equal((await restart()).status, 202)
})

test('a restart does not replace a deploy that is queued while it checks its image', async (t) => {
  const { context, restart, deploy } = await serviceWithoutImage(t)
  let queued = ''
  const hasImage = async () => {
    queued = await deploy()
    return true
  }
  context.observe = { ...context.observe, hasImage }

  assert.equal((await restart()).body.id, queued)
})
