// Env variables of services, sealed. Values are stored unchanged.
// They must not reach a log, an event or an actor; effects read them by the service's id.

import type { Sealer } from './secrets.ts'
import { openSealedTable } from './secrets.ts'
import type { Commit, Store } from './store/store.ts'

export interface EnvVar {
  key: string
  value: string
}

export function openEnv(store: Store, sealer: Sealer) {
  const sealed = openSealedTable<EnvVar[]>(store, sealer, 'env', 'env')
  const get = (serviceId: string): EnvVar[] => sealed.get(serviceId) ?? []
  /** Only inside a commit. */
  const put = (serviceId: string, vars: EnvVar[]): void => sealed.put(serviceId, byKey(vars))

  function save(commit: Commit, serviceId: string, vars: EnvVar[]): EnvVar[] {
    put(serviceId, vars)
    commit.announce({ kind: 'env', id: serviceId, service_id: serviceId, status: null, revision: null })
    return byKey(vars)
  }

  return {
    get,
    put,
    /** Only inside a commit. */
    remove: sealed.remove,
    /** Replaces all variables without reading the stored ones, so damaged ones do no harm. */
    replace: (serviceId: string, vars: () => EnvVar[]) =>
      store.commit((commit) => save(commit, serviceId, vars())),
    /** Reads, changes and writes in one transaction: parallel changes of different keys all survive. */
    change: (serviceId: string, change: (vars: EnvVar[]) => EnvVar[]) =>
      store.commit((commit) => save(commit, serviceId, change(get(serviceId)))),
  }
}

function byKey(vars: EnvVar[]): EnvVar[] {
  return [...vars].sort((a, b) => (a.key < b.key ? -1 : 1))
}

export type Env = ReturnType<typeof openEnv>
