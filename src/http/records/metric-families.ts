// Metrics of services, datastores, certificates and the edge, from committed records and the last sample.
import type { DatastoreRecord } from '../../../machines/datastore/datastore-record.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import type { Edge } from '../../api/edge.ts'
import { edgeId } from '../../domain/domains.ts'
import { wantedInstances } from '../../domain/service-types.ts'
import type { UsageSample } from '../../effects/traffic/instance-metrics.ts'
import type { HttpContext } from '../pipeline/context.ts'

export interface Family {
  name: string
  help: string
  type: 'gauge' | 'counter'
  /** The label's value, or null for a sample without labels; and the sample's value. */
  samples: (readonly [string | null, number])[]
  label?: string
}

/** The maximum number of backups that are searched for the newest good one. */
const maxBackupsSearched = 50
const portProblems = ['port_shared', 'port_unreachable']

// prom-client cannot omit a family temporarily without a new registry per request, which takes ten times
// as long.
/** Label values need no escaping: they are names, hosts, versions and constants. */
export function render({ name, help, type, label, samples }: Family): string {
  const lines = samples.map(
    ([value, count]) => `${name}${value === null ? '' : `{${label}="${value}"}`} ${count}`,
  )
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n')
}

export function edgeFamilies({ storage }: Pick<HttpContext, 'storage'>): Family[] {
  // The record of a parked edge may lack fields.
  const edge = storage.actors.record(edgeId) as Partial<Edge> | null
  if (!edge || edge.status === 'off') return []
  const isUp = edge.status === 'serving' || edge.status === 'upgrading'
  const isReached = isUp && !portProblems.includes(edge.error_code ?? '')
  const { version } = edge
  return [
    toFamily('berth_edge_up', 'Whether the edge serves.', [[null, Number(isUp)]]),
    toFamily('berth_edge_reachable', 'Whether only this edge responds on the public ports.', [
      [null, Number(isReached)],
    ]),
    ...(typeof version !== 'string'
      ? []
      : [
          toFamily('berth_edge_info', 'The running HAProxy.', [[version, 1]], 'version'),
          toFamily(
            'berth_edge_outdated',
            'Whether another HAProxy is available.',
            [[version, Number(Boolean(edge.available))]],
            'version',
          ),
        ]),
  ]
}

export function serviceFamilies({ observe }: HttpContext, rows: readonly ServiceRow[]): Family[] {
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

function sampledFamilies(sample: UsageSample | null, served: readonly ServiceRow[]): Family[] {
  if (sample === null) return []
  const usages = served.map(({ id, name }) => ({ name, usage: sample.byService.get(id) }))
  const running = usages.map(({ name, usage }) => [name, usage?.running ?? 0] as const)
  const memory = usages.map(({ name, usage }) => [name, usage?.memoryBytes ?? 0] as const)
  return [
    serviceFamily('instances_running', 'Running instances of the live version.', running),
    serviceFamily('memory_bytes', 'Memory of all instances, without page cache.', memory),
    toFamily('berth_instances_sample_timestamp_seconds', 'When running, memory and CPU were last read.', [
      [null, sample.at / 1000],
    ]),
  ]
}

function serviceFamily(
  name: string,
  help: string,
  samples: Family['samples'],
  type?: Family['type'],
): Family {
  return toFamily(`berth_service_${name}`, help, samples, 'service', type)
}

export function datastoreFamilies({ storage }: Pick<HttpContext, 'storage'>): Family[] {
  const records = storage.datastores.list().flatMap(({ id }) => {
    const record = storage.actors.record<'datastore'>(id)
    return record ? [record] : []
  })
  const backups = records.flatMap(({ id, name }) => {
    const at = newestBackup(storage, id)
    return at === null ? [] : [[name, at / 1000] as const]
  })
  const of = (read: (record: DatastoreRecord) => boolean) =>
    records.map((record) => [record.name, Number(read(record))] as const)
  return [
    toFamily(
      'berth_datastore_available',
      'Whether a datastore serves.',
      of(({ status }) => status === 'available'),
      'datastore',
    ),
    toFamily(
      'berth_datastore_backup_scheduled',
      'Whether a datastore has a backup schedule.',
      of(({ backup_schedule }) => backup_schedule !== null),
      'datastore',
    ),
    toFamily(
      'berth_datastore_backup_timestamp_seconds',
      'When the newest good backup of a datastore was finished.',
      backups,
      'datastore',
    ),
  ]
}

export function certificateFamilies({ storage }: Pick<HttpContext, 'storage'>): Family[] {
  const expiries = [...storage.actors.active('certificate')].flatMap(({ id }) => {
    const record = storage.actors.record<'certificate'>(id)
    return record?.not_after ? [[record.host, Date.parse(record.not_after) / 1000] as const] : []
  })
  const name = 'berth_certificate_expiry_timestamp_seconds'
  return [toFamily(name, 'When the installed certificate of a host expires.', expiries, 'host')]
}

export function toFamily(
  name: string,
  help: string,
  samples: Family['samples'],
  label = '',
  type: Family['type'] = 'gauge',
): Family {
  return { name, help, type, label, samples }
}

function desiredInstances(row: ServiceRow): number {
  return row.live_deploy_id === null || row.suspended ? 0 : wantedInstances(row)
}

function newestBackup({ actors }: HttpContext['storage'], datastoreId: string): number | null {
  const good = actors.list('backup', datastoreId, maxBackupsSearched).find(({ status }) => status === 'good')
  return good ? Date.parse(String(good.finished_at)) : null
}
