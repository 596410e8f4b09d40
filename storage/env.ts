// Env variables of services, sealed. Values are stored unchanged.
// They must not reach a log, an event or an actor; effects read them by the service's id.
import type { Sealer } from './secrets.ts'
import type { Commit, Store } from './store/store.ts'

export interface EnvVar {
  key: string
  value: string
}

export function openEnv(store: Store, sealer: Sealer) {
  const sealed = store.table<string>('env')
  const seal = (serviceId: string, vars: EnvVar[]) => sealer.seal(JSON.stringify(vars), `env:${serviceId}`)

  function get(serviceId: string): EnvVar[] {
    const row = sealed.get(serviceId)
    return row === null ? [] : (JSON.parse(sealer.open(row, `env:${serviceId}`)) as EnvVar[])
  }

  /** Only inside a commit. */
  function put(serviceId: string, vars: EnvVar[]): void {
    sealed.put(serviceId, seal(serviceId, byKey(vars)))
  }

  function save(commit: Commit, serviceId: string, vars: EnvVar[]): EnvVar[] {
    put(serviceId, vars)
    commit.announce({ kind: 'env', id: serviceId, service_id: serviceId, status: null, revision: null })
    return byKey(vars)
  }

  return {
    get,
    put,
    /** Only inside a commit. */
    remove: (serviceId: string) => sealed.remove(serviceId),
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
