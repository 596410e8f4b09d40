// Which archive a service deploys: the last uploaded one, unless it is damaged.
import { deepEqual, equal } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { serviceRow, transitionOf } from '../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../support/supervisor/supervision.ts'

/** A service, uploads to it, and the archives that it would deploy: the newest and the fallback. */
async function openService(t: TestContext) {
  const { services, actors } = await temporaryStorage(t)
  await services.create(serviceRow())
  return {
    services,
    upload: (id: string) =>
      actors.create(transitionOf({ id }), (commit) => services.setArchive(commit, 'svc-1', id)),
    settle: (id: string, isSound: boolean) => services.settleArchive('svc-1', id, isSound),
    archives() {
      const { archive_deploy_id, former_archive_deploy_id = null } = services.get('svc-1')!
      return [archive_deploy_id, former_archive_deploy_id]
    },
  }
}

test('a valid archive replaces the previous one', async (t) => {
  const { upload, settle, archives } = await openService(t)
  await upload('dep-1')
  deepEqual(archives(), ['dep-1', null])
  await settle('dep-1', true)
  await upload('dep-2')
  deepEqual(archives(), ['dep-2', 'dep-1'])

  await settle('dep-2', true)

  deepEqual(archives(), ['dep-2', null])
})

test('after a broken archive the previous one is used again, or none if there was no other', async (t) => {
  const { upload, settle, archives } = await openService(t)
  await upload('dep-1')
  await settle('dep-1', false)
  deepEqual(archives(), [null, null])
  await upload('dep-2')
  await settle('dep-2', true)
  await upload('dep-3')

  await settle('dep-3', false)

  deepEqual(archives(), ['dep-2', null])
})

test('of several archives not yet unpacked, the fallback is the last valid one before them', async (t) => {
  const { upload, settle, archives } = await openService(t)
  await upload('dep-1')
  await settle('dep-1', true)
  await upload('dep-2')
  await upload('dep-3')
  deepEqual(archives(), ['dep-3', 'dep-1'])
  await settle('dep-2', false)
  deepEqual(archives(), ['dep-3', 'dep-1'], 'one that has no place has none to give back')

  await settle('dep-3', false)

  deepEqual(archives(), ['dep-1', null])
})

test('an archive found valid while a newer one waits becomes the fallback', async (t) => {
  const { upload, settle, archives } = await openService(t)
  for (const id of ['dep-1', 'dep-2']) await upload(id)
  await settle('dep-1', true)
  deepEqual(archives(), ['dep-2', 'dep-1'])
  await settle('dep-1', false)
  deepEqual(archives(), ['dep-2', null], 'nobody goes back to a broken one')
})

test('repeating a report changes nothing, and a deleted service stays deleted', async (t) => {
  const { services, upload, settle } = await openService(t)
  await upload('dep-1')
  await settle('dep-1', true)
  const before = services.get('svc-1')
  await settle('dep-1', true)
  deepEqual(services.get('svc-1'), before)

  await services.remove('svc-1')
  await upload('dep-2')
  await settle('dep-2', false)

  equal(services.get('svc-1'), null)
})
