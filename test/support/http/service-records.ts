// A service with the id `svc-own`, and one record of each kind that belongs to it.

import { serviceRow, transitionOf } from '../storage/store-fixtures.ts'
import type { Api } from './http-context.ts'

/** Ids by the path segment before the parameter, such as `deploys`. */
export async function createServiceRecords({ storage: { actors, services } }: Pick<Api, 'storage'>) {
  const records = {
    deploys: ['deploy', 'dep-1'],
    jobs: ['job-run', 'job-1'],
    certificates: ['certificate', 'crt-1'],
  }
  await services.create(serviceRow({ id: 'svc-own', name: 'own' }))
  const ids = new Map([['services', 'svc-own']])
  for (const [noun, [kind, id]] of Object.entries(records) as [string, [string, string]][]) {
    const transition = transitionOf({ id, kind, service_id: 'svc-own' })
    await actors.create({ ...transition, record: { ...transition.record, service_id: 'svc-own' } })
    ids.set(noun, id)
  }
  return ids
}
