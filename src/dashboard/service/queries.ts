// What pages read of services.
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type { Transition } from '../../api/actor.ts'
import type { Certificate } from '../../api/certificate.ts'
import type { Deploy } from '../../api/deploy.ts'
import type { DeployDiff } from '../../api/deploy-diff.ts'
import type { Schedule } from '../../api/schedule.ts'
import type { Service } from '../../api/service.ts'
import type { ServiceStatus } from '../../api/status.ts'
import { get } from '../api/client.ts'
import { patched } from '../live/patched.ts'

export const servicesQuery = queryOptions({
  queryKey: ['services'],
  queryFn: get<Service[]>('/services'),
})

/** By name: the address of a page has names. Its parts have keys with the id, which changes name. */
export function serviceQuery(name: string) {
  return queryOptions({
    queryKey: ['services', name],
    queryFn: get<Service>(`/services/${encodeURIComponent(name)}`),
  })
}

const pages = {
  queryKey: servicesQuery.queryKey,
  predicate: ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey.length > 1,
}

/** Shows what a deploy does wherever its service is shown. Returns the status that was shown. */
export function patchServices(
  client: QueryClient,
  serviceId: string | null,
  transition: Transition,
): Deploy['status'] | undefined {
  let shown: Deploy['status'] | undefined
  const patchDeploy = (deploy: Deploy): Deploy => {
    if (deploy.id !== transition.actor_id) return deploy
    shown = deploy.status
    return patched(deploy, transition)
  }
  const patch = (service: Service): Service =>
    service.latest_deploy ? { ...service, latest_deploy: patchDeploy(service.latest_deploy) } : service
  const deploys = { queryKey: ['service', serviceId, 'deploys'] }
  client.setQueriesData<Deploy[]>(deploys, (list) => list?.map(patchDeploy))
  client.setQueriesData<Service>(pages, (service) => service && patch(service))
  client.setQueryData(servicesQuery.queryKey, (list) => list?.map(patch))
  return shown
}

/** Reads one service again, if it is shown: a list of fifty is not read because of one. */
export async function refreshService(client: QueryClient, id: string): Promise<void> {
  const list = servicesQuery.queryKey
  const page = client.getQueriesData<Service>(pages).find(([, service]) => service?.id === id)
  const services = client.getQueryData(list)
  // An answer that is on its way may be older than the change.
  const isNew = !services?.some((one) => one.id === id)
  if (isNew) void client.invalidateQueries({ queryKey: list, exact: true })
  if (isNew && !page) return
  const read = await get<Service>(`/services/${id}`)().catch(() => null)
  if (!read) return void client.invalidateQueries({ queryKey: list })
  const update = (shown: Service | undefined) => (shown?.id === id ? withNewest(read, shown) : shown)
  client.setQueryData(list, (shown) => shown?.map((one) => update(one)!))
  if (page) client.setQueryData<Service>(page[0], update)
}

/** The feed may have been ahead of the answer. */
function withNewest(read: Service, shown: Service): Service {
  const [latest, known] = [read.latest_deploy, shown.latest_deploy]
  return latest && known?.id === latest.id && known.revision > latest.revision
    ? { ...read, latest_deploy: known }
    : read
}

export function statusQuery(id: string) {
  return queryOptions({
    queryKey: ['service', id, 'status'],
    queryFn: get<ServiceStatus>(`/services/${id}/status`),
  })
}

export function deploysQuery(id: string) {
  return queryOptions({
    queryKey: ['service', id, 'deploys'],
    queryFn: get<Deploy[]>(`/services/${id}/deploys?limit=20`),
  })
}

export function scheduleQuery(id: string) {
  return queryOptions({
    queryKey: ['service', id, 'schedule'],
    queryFn: get<Schedule>(`/services/${id}/schedule`),
  })
}

export function certificatesQuery(id: string) {
  return queryOptions({
    queryKey: ['service', id, 'certificates'],
    queryFn: get<Certificate[]>('/certificates'),
    select: (all) => all.filter(({ service_id }) => service_id === id),
  })
}

/** Settings raise the revision of the service; variables are announced by the feed. */
export function savedChangesQuery({ id, live_deploy_id: liveId, revision }: Service) {
  return queryOptions({
    queryKey: ['service', id, 'saved changes', liveId, revision],
    queryFn: get<DeployDiff>(`/deploys/${liveId}/diff?against=saved`),
  })
}
