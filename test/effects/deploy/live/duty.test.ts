// What a live deploy must do, for each state of its service.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { dutyOf, instancesFor } from '../../../../src/effects/deploy/live/upkeep.ts'
import type { ServiceRow } from '../../../../storage/services.ts'
import { serviceRow } from '../../../support/storage/store-fixtures.ts'
import { temporaryStorage } from '../../../support/supervisor/supervision.ts'

const live = { live_deploy_id: 'dep-1', desired_deploy_id: 'dep-1', instances: 3 }

test('the service determines the duty, and the duty the number of instances', async (t) => {
  const storage = await temporaryStorage(t)
  const look = (changes: Partial<ServiceRow>) => {
    const row = serviceRow({ ...live, ...changes })
    const duty = dutyOf({ storage }, 'dep-1', row)
    return [duty, instancesFor(duty, row)]
  }
  deepEqual(look({}), ['serving', 3])
  deepEqual(look({ desired_deploy_id: 'dep-2' }), ['outgoing', 3])
  deepEqual(look({ suspended: true, desired_deploy_id: 'dep-2' }), ['suspended', 0])
  deepEqual(look({ type: 'cron_job', suspended: true }), ['scheduled', 0])
  deepEqual(look({ live_deploy_id: 'dep-2' }), ['over', 0])
  deepEqual(look({ deleting: true }), ['over', 0])
  equal(dutyOf({ storage }, 'dep-1', null), 'over')
})

test('a deploy yields only if both deploys use the disk', async (t) => {
  const storage = await temporaryStorage(t)
  const freeze = (id: string, disk_mount_path: string | null) =>
    storage.releases.freeze(id, () => ({
      settings: { ...serviceRow(), disk_mount_path },
      env: [],
      resolved: null,
    }))
  const row = serviceRow({ ...live, desired_deploy_id: 'dep-2' })
  await freeze('dep-1', '/data')
  equal(dutyOf({ storage }, 'dep-1', row), 'outgoing')
  await freeze('dep-2', '/data')
  equal(dutyOf({ storage }, 'dep-1', row), 'yielding')
  equal(instancesFor('yielding', row), 0)
})
