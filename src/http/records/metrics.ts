// Metrics for Prometheus: the counters of the edge, and gauges. Gauges are computed from records at each
// scrape, so they cannot drift.
import type { ServiceRow } from '../../../storage/services.ts'
import { actorKinds } from '../../api/actor.ts'
import { serviceStates } from '../../api/service.ts'
import type { HttpContext } from '../pipeline/context.ts'
import {
  certificateFamilies,
  datastoreFamilies,
  edgeFamilies,
  type Family,
  render,
  serviceFamilies,
  toFamily,
} from './metric-families.ts'
import { stateOf } from './service-record.ts'

const deployStates = ['queued', 'running'] as const

export async function metricsText(context: HttpContext): Promise<string> {
  const counted = await context.traffic?.metrics()
  const { enforced } = context.observe.isolation()
  const rows = context.storage.services.list()
  const families: Family[] = [
    toFamily('berth_info', 'The running version.', [[context.version, 1]], 'version'),
    ...edgeFamilies(context),
    toFamily(
      'berth_network_isolation',
      'Whether services are isolated from each other.',
      [['enforced', enforced ? 1 : 0]],
      'state',
    ),
    toFamily('berth_services', 'Services by state.', countServices(context, rows), 'state'),
    toFamily('berth_deploys', 'Unfinished deploys, by status.', countDeploys(context), 'status'),
    toFamily(
      'berth_builder_hangs',
      'Whether the BuildKit of the Docker engine hangs.',
      [['buildkit', context.observe.builderHangsSince() === null ? 0 : 1]],
      'builder',
    ),
    toFamily('berth_parked_actors', 'Parked actors.', countParked(context), 'kind'),
    ...serviceFamilies(context, rows),
    ...datastoreFamilies(context),
    ...certificateFamilies(context),
  ]
  return [...families.map(render), counted ?? ''].join('\n').trimEnd().concat('\n')
}

function countServices({ storage }: HttpContext, rows: readonly ServiceRow[]): [string, number][] {
  const states = rows.map((row) => stateOf(storage, row))
  return serviceStates.map((state) => [state, states.filter((one) => one === state).length])
}

function countDeploys({ storage }: HttpContext): [string, number][] {
  const statuses = [...storage.actors.active('deploy')].map(({ id }) => storage.actors.record(id)?.status)
  return deployStates.map((status) => [status, statuses.filter((one) => one === status).length])
}

function countParked({ storage }: HttpContext): [string, number][] {
  const counts = new Map<string, number>(actorKinds.map((kind) => [kind, 0]))
  for (const { kind } of storage.actors.parked()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts]
}
