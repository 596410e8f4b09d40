// What pages read of deploys. A key contains what the answer depends on, so that a deploy that advances does
// not cause requests for what stays the same.
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { Deploy, PhaseTimes } from '../../api/deploy.ts'
import type { DeployDiff } from '../../api/deploy-diff.ts'
import type { Why } from '../../api/parts/failure.ts'
import { get } from '../api/client.ts'

export function deployQuery(id: string) {
  return queryOptions({
    queryKey: ['deploy', id],
    queryFn: get<Deploy>(`/deploys/${encodeURIComponent(id)}`),
  })
}

/** `version` is anything that changes when the phases do. */
export function withPhasesQuery(id: string, version: string) {
  return queryOptions({
    queryKey: ['deploy with phases', id, version],
    queryFn: get<Deploy>(`/deploys/${encodeURIComponent(id)}?include=phases`),
  })
}

/** `path` of a deploy or a job run. */
export function whyQuery(path: string, id: string) {
  return queryOptions({
    queryKey: ['why', id, 'why'],
    queryFn: get<Why>(`${path}/why`),
  })
}

const pageLength = 50

/** Newest first, page by page. */
export function pagesQuery<Item extends { id: string }>(serviceId: string, noun: 'deploys' | 'jobs') {
  return infiniteQueryOptions({
    queryKey: ['service', serviceId, `pages of ${noun}`],
    queryFn: ({ pageParam, signal }) => {
      const before = pageParam === null ? '' : `&before=${pageParam}`
      return get<Item[]>(`/services/${serviceId}/${noun}?limit=${pageLength}${before}`)({ signal })
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last) => (last.length === pageLength ? last.at(-1)!.id : null),
  })
}

/** The newest deploys that were live before another one, which a rollback can return to. */
export function formerQuery(serviceId: string, liveId: string | null) {
  return queryOptions({
    queryKey: ['former deploys', serviceId, liveId],
    queryFn: async ({ signal }) => {
      const deploys = await get<Deploy[]>(`/services/${serviceId}/deploys?limit=${pageLength}`)({ signal })
      return deploys.filter(({ status }) => status === 'deactivated')
    },
  })
}

/** Of the last ten successful deploys, so a new one is compared with those before it. */
export function phaseTimesQuery(serviceId: string) {
  return queryOptions({
    queryKey: ['phase times', serviceId],
    queryFn: get<PhaseTimes>(`/services/${serviceId}/phase-times`),
  })
}

/** What differs in `id` from `against`. */
export function diffQuery(id: string, against: string) {
  return queryOptions({
    queryKey: ['diff', id, against],
    queryFn: get<DeployDiff>(
      `/deploys/${encodeURIComponent(id)}/diff?against=${encodeURIComponent(against)}`,
    ),
  })
}
