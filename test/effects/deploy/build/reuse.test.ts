// Reusing an image: a restart uses the version that is live at its turn, and only images that still exist.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { baseImages } from '../../../support/docker/images.ts'
import { neverAborted, openDeployQueue } from '../../../support/effects/deploy-queue.ts'
import { deployInput } from '../../../support/machines/deploy-chart.ts'
import { transitionOf } from '../../../support/storage/store-fixtures.ts'

test('a restart uses the image that is live when it runs', async (t) => {
  const reuse = { ...deployInput().source, kind: 'reuse' as const }
  const queue = await openDeployQueue(t, { service: { live_deploy_id: 'dep-1' }, minFreeDiskMb: 2 ** 40 })
  const transition = transitionOf({ id: 'dep-1' }, { status: 'live' })
  const { source } = deployInput()
  const { busybox: image } = await baseImages()
  const built = { image, commit_sha: null, commit_message: null, source }
  await queue.storage.actors.create({ ...transition, record: { ...transition.record, ...built } })
  await queue.is('dep-2', 'queued')

  const { reused } = await queue.ask('dep-2', neverAborted, reuse)

  assert.deepEqual(reused, {
    image,
    commitSha: null,
    commitMessage: null,
    source: { ...source, kind: 'reuse', deploy_id: 'dep-1' },
  })
})

test('a missing image is refused before anything is frozen', async (t) => {
  const reuse = { ...deployInput().source, kind: 'reuse' as const }
  const queue = await openDeployQueue(t, { service: { live_deploy_id: 'dep-1' } })
  const transition = transitionOf({ id: 'dep-1' }, { status: 'live' })
  const image = 'localhost/berth-test/nobody-made-this:1'
  await queue.storage.actors.create({ ...transition, record: { ...transition.record, image } })
  await queue.is('dep-2', 'queued')

  await assert.rejects(queue.ask('dep-2', neverAborted, reuse), { code: 'image_gone' })
  assert.equal(queue.storage.releases.has('dep-2'), false)
})

test('a restart of a service without a live deploy fails', async (t) => {
  const queue = await openDeployQueue(t)
  await queue.is('dep-2', 'queued')
  const reuse = { ...deployInput().source, kind: 'reuse' as const }
  await assert.rejects(queue.ask('dep-2', neverAborted, reuse), { code: 'conflict' })
})
