// What pages read of services.
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type { Deploy } from '../../api/deploy.ts'
import type { Service } from '../../api/service.ts'
import type { ServiceStatus } from '../../api/status.ts'
import { get } from '../api/client.ts'

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

const running = new Map<string, 'reading' | 'changed'>()

/** Reads one service again, if it is shown: a list of fifty is not read because of one. */
export async function refreshService(client: QueryClient, id: string): Promise<void> {
  // An answer that was sent earlier must not arrive later.
  if (running.has(id)) return void running.set(id, 'changed')
  do {
    running.set(id, 'reading')
    await readService(client, id)
  } while (running.get(id) === 'changed')
  running.delete(id)
}

async function readService(client: QueryClient, id: string): Promise<void> {
  const list = servicesQuery.queryKey
  const pages = client.getQueriesData<Service>({
    queryKey: list,
    predicate: ({ queryKey }) => queryKey.length > 1,
  })
  const shown = pages.find(([, service]) => service?.id === id)
  if (!shown && !client.getQueryData(list)) return
  const service = await get<Service>(`/services/${id}`)().catch(() => null)
  if (service && shown) client.setQueryData(shown[0], service)
  const services = client.getQueryData(list)
  if (service && services?.some((one) => one.id === id))
    client.setQueryData(
      list,
      services.map((one) => (one.id === id ? service : one)),
    )
  else void client.invalidateQueries({ queryKey: list, exact: true })
  if (!service && shown) void client.invalidateQueries({ queryKey: shown[0] })
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
