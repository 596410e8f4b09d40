// What a server returns, to be compared with what another one returns.
import type { Api } from '../support/daemon/api.ts'
import { operations } from '../support/http/operations.ts'

/**
 * What differs between two processes, engines or points in time: no settings, records or secrets. An address
 * of an instance is in the subnet of its engine, a location in the data directory.
 */
const transient = new Set([
  'address',
  'boot',
  'container_id',
  'cpu_percent',
  'disk_free_bytes',
  'disk_usage',
  'held',
  'last_used_at',
  'location',
  'memory_bytes',
  'restart_count',
  'started_at',
  'uptime_seconds',
])
/** Numbers and findings of this moment, the log of what happens, and what is not data. */
const skipped =
  /metrics|\/doctor|\/activity|\/audit|\/events|\/openapi|\/machines|\/logs|\/content|\/backups|\/auth/

/** All GET responses of the API with JSON, by path. */
export async function readAll(api: Api): Promise<Record<string, unknown>> {
  const services = await api.get('/services')
  const ids: Record<string, string[]> = {
    services: services.map(({ id }: { id: string }) => id),
    deploys: [],
  }
  for (const id of ids.services!) {
    const deploys = await api.get(`/services/${id}/deploys`)
    ids.deploys!.push(...deploys.map((deploy: { id: string }) => deploy.id))
  }
  const found: Record<string, unknown> = {}
  for (const { method, path, isForSession, streams } of operations) {
    if (method !== 'GET' || isForSession || streams || skipped.test(path) || !path.startsWith('/api/v1'))
      continue
    const [, noun] = /^\/api\/v1\/(services|deploys)\/\{id\}/.exec(path) ?? []
    const parameters = path.match(/\{\w+\}/g) ?? []
    if (parameters.length > (noun ? 1 : 0)) continue
    for (const id of noun ? ids[noun]! : ['']) {
      const place = path.replace('/api/v1', '').replace('{id}', id)
      const { status, body } = await api.call('GET', place)
      found[place] = [status, withoutTransient(body)]
    }
  }
  return found
}

function withoutTransient(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTransient)
  if (value === null || typeof value !== 'object') return value
  const kept = Object.entries(value).filter(([name]) => !transient.has(name) && name !== 'request_id')
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutTransient(inner)]))
}
