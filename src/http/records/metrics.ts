// Metrics for Prometheus. Gauges are computed from records at each scrape, so they cannot drift.
import type { ServiceRow } from '../../../storage/services.ts'
import { actorKinds } from '../../api/actor.ts'
import type { Edge } from '../../api/edge.ts'
import { serviceStates } from '../../api/service.ts'
import { edgeId } from '../../domain/domains.ts'
import { wantedInstances } from '../../domain/service-types.ts'
import type { UsageSample } from '../../effects/traffic/instance-metrics.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { stateOf } from './service-record.ts'

/** The label's value, or null for a sample without labels; and the sample's value. */
type Samples = readonly (readonly [string | null, number])[]

const maxBackupsSearched = 50
const portProblems = ['port_shared', 'port_unreachable']

const deployStates = ['queued', 'running'] as const

export async function metricsText(context: HttpContext): Promise<string> {
  const counted = await context.traffic?.metrics()
  const { enforced } = context.observe.isolation()
  const rows = context.storage.services.list()
  const families: string[] = [
    family('berth_info', 'The running version.', [[context.version, 1]], 'version'),
    ...edgeFamilies(context),
    family(
      'berth_network_isolation',
      'Whether services are isolated from each other.',
      [['enforced', enforced ? 1 : 0]],
      'state',
    ),
    family('berth_services', 'Services by state.', countServices(context, rows), 'state'),
    family('berth_deploys', 'Unfinished deploys, by status.', countDeploys(context), 'status'),
    family(
      'berth_builder_hangs',
      'Whether the BuildKit of the Docker engine hangs.',
      [['buildkit', context.observe.builderHangsSince() === null ? 0 : 1]],
      'builder',
    ),
    family('berth_alerts', 'Open alerts, by state.', countAlerts(context), 'state'),
    family('berth_parked_actors', 'Parked actors.', countParked(context), 'kind'),
    ...serviceFamilies(context, rows),
    ...datastoreFamilies(context),
    ...certificateFamilies(context),
  ]
  return [...families, counted ?? ''].join('\n').trimEnd().concat('\n')
}

function countServices({ storage }: HttpContext, rows: readonly ServiceRow[]): [string, number][] {
  const states = rows.map((row) => stateOf(storage, row))
  return serviceStates.map((state) => [state, states.filter((one) => one === state).length])
}

function countDeploys({ storage }: HttpContext): [string, number][] {
  const statuses = [...storage.actors.active('deploy')].map(({ id }) => storage.actors.record(id)?.status)
  return deployStates.map((status) => [status, statuses.filter((one) => one === status).length])
}

function countAlerts({ storage }: HttpContext): [string, number][] {
  const statuses = [...storage.actors.active('alert')].map(({ id }) => storage.actors.record(id)?.status)
  return ['raised', 'acknowledged'].map((state) => [state, statuses.filter((one) => one === state).length])
}

function countParked({ storage }: HttpContext): [string, number][] {
  const counts = new Map<string, number>(actorKinds.map((kind) => [kind, 0]))
  for (const { kind } of storage.actors.parked()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts]
}

/**
 * One family in the text format. prom-client cannot omit one temporarily without a new registry per request,
 * which takes ten times as long. Label values are names, hosts, versions and constants: none needs escaping.
 */
export function family(
  name: string,
  help: string,
  samples: Samples,
  label = '',
  type: 'gauge' | 'counter' = 'gauge',
): string {
  const lines = samples.map(
    ([value, count]) => `${name}${value === null ? '' : `{${label}="${value}"}`} ${count}`,
  )
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n')
}

function edgeFamilies({ storage }: Pick<HttpContext, 'storage'>): string[] {
  // The record of a parked edge may lack fields.
  const edge = storage.actors.record(edgeId) as Partial<Edge> | null
  if (!edge || edge.status === 'off') return []
  const isUp = edge.status === 'serving' || edge.status === 'upgrading'
  const isReached = isUp && !portProblems.includes(edge.error_code ?? '')
  const { version } = edge
  const reached = 'Whether only this edge responds on the public ports.'
  const families = [
    family('berth_edge_up', 'Whether the edge serves.', [[null, Number(isUp)]]),
    family('berth_edge_reachable', reached, [[null, Number(isReached)]]),
  ]
  if (typeof version !== 'string') return families
  const outdated: Samples = [[version, Number(Boolean(edge.available))]]
  return [
    ...families,
    family('berth_edge_info', 'The running HAProxy.', [[version, 1]], 'version'),
    family('berth_edge_outdated', 'Whether another HAProxy is available.', outdated, 'version'),
  ]
}

function serviceFamilies({ observe }: HttpContext, rows: readonly ServiceRow[]): string[] {
  const served = rows.filter(({ type, deleting }) => type !== 'cron_job' && !deleting)
  const counters = served.map(({ id, name }) => ({ name, ...observe.counters(id) }))
  const desired = served.map((row) => [row.name, desiredInstances(row)] as const)
  const degraded = served.map((row) => [row.name, Number(row.degraded && desiredInstances(row) > 0)] as const)
  const restarts = counters.map(({ name, restarts: count }) => [name, count] as const)
  const cpu = counters.map(({ name, cpuSeconds }) => [name, cpuSeconds] as const)
  return [
    serviceFamily('instances_wanted', 'Desired instances.', desired),
    serviceFamily('degraded', 'Whether instances of the live version are missing or failing.', degraded),
    serviceFamily('restarts_total', 'Unexpected ends of instances of the live version.', restarts, 'counter'),
    serviceFamily('cpu_seconds_total', 'CPU time of instances since the first sample.', cpu, 'counter'),
    ...sampledFamilies(observe.usage(), served),
  ]
}

function sampledFamilies(sample: UsageSample | null, served: readonly ServiceRow[]): string[] {
  if (sample === null) return []
  const usages = served.map(({ id, name }) => ({ name, usage: sample.byService.get(id) }))
  const running = usages.map(({ name, usage }) => [name, usage?.running ?? 0] as const)
  const memory = usages.map(({ name, usage }) => [name, usage?.memoryBytes ?? 0] as const)
  return [
    serviceFamily('instances_running', 'Running instances of the live version.', running),
    serviceFamily('memory_bytes', 'Memory of all instances, without page cache.', memory),
    family('berth_instances_sample_timestamp_seconds', 'When running, memory and CPU were last read.', [
      [null, sample.at / 1000],
    ]),
  ]
}

function serviceFamily(name: string, help: string, samples: Samples, type?: 'counter'): string {
  return family(`berth_service_${name}`, help, samples, 'service', type)
}

function datastoreFamilies({ storage }: Pick<HttpContext, 'storage'>): string[] {
  const records = storage.datastores.list().flatMap(({ id }) => {
    const record = storage.actors.record<'datastore'>(id)
    return record ? [record] : []
  })
  const backups = records.flatMap(({ id, name }) => {
    const at = newestBackup(storage, id)
    return at === null ? [] : [[name, at / 1000] as const]
  })
  const of = (name: string, help: string, samples: Samples) =>
    family(`berth_datastore_${name}`, help, samples, 'datastore')
  const available = records.map(({ name, status }) => [name, Number(status === 'available')] as const)
  const scheduled = records.map((record) => [record.name, Number(record.backup_schedule !== null)] as const)
  return [
    of('available', 'Whether a datastore serves.', available),
    of('backup_scheduled', 'Whether a datastore has a backup schedule.', scheduled),
    of('backup_timestamp_seconds', 'When the newest good backup of a datastore was finished.', backups),
  ]
}

function certificateFamilies({ storage }: Pick<HttpContext, 'storage'>): string[] {
  const expiries = [...storage.actors.active('certificate')].flatMap(({ id }) => {
    const record = storage.actors.record<'certificate'>(id)
    return record?.not_after ? [[record.host, Date.parse(record.not_after) / 1000] as const] : []
  })
  const name = 'berth_certificate_expiry_timestamp_seconds'
  return [family(name, 'When the installed certificate of a host expires.', expiries, 'host')]
}

function desiredInstances(row: ServiceRow): number {
  return row.live_deploy_id === null || row.suspended ? 0 : wantedInstances(row)
}

function newestBackup({ actors }: HttpContext['storage'], datastoreId: string): number | null {
  const good = actors.list('backup', datastoreId, maxBackupsSearched).find(({ status }) => status === 'good')
  return good ? Date.parse(String(good.finished_at)) : null
}
