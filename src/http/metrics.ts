// The numbers of the server as Prometheus reads them: what the edge counted, and how many there are of what.
// Mind: gauges are read from the records when they are asked for; nothing is counted beside them.
import { edgeId } from '../hosts.ts'
import type { HttpContext } from './context.ts'
import { actorKinds } from './schemas/actor.ts'
import type { Edge } from './schemas/edge.ts'
import { serviceStates } from './schemas/service.ts'
import { stateOf } from './service-record.ts'

const deployStates = ['queued', 'running'] as const

export async function metricsText(context: HttpContext): Promise<string> {
  const counted = await context.traffic?.metrics()
  const { enforced } = context.observe.isolation()
  const gauges = [
    gauge('berth_info', 'The version that runs.', 'version', [[context.version, 1]]),
    ...edgeGauges(context),
    gauge('berth_network_isolation', 'Whether services are isolated from each other.', 'state', [
      ['enforced', enforced ? 1 : 0],
    ]),
    gauge('berth_builder_hangs', 'Whether the BuildKit of the Docker engine hangs.', 'builder', [
      ['buildkit', context.observe.builderHangsSince() === null ? 0 : 1],
    ]),
    gauge('berth_services', 'Services by state.', 'state', countServices(context)),
    gauge('berth_deploys', 'Deploys that are not over, by status.', 'status', countDeploys(context)),
    gauge(
      'berth_parked_actors',
      'Actors that wait for a retry or to be discarded.',
      'kind',
      countParked(context),
    ),
  ]
  return [...gauges, counted ?? ''].join('\n').trimEnd().concat('\n')
}

/** Empty before the first start of an edge. */
function edgeGauges({ storage }: HttpContext): string[] {
  const edge = storage.actors.record(edgeId) as Edge | null
  if (!edge?.version) return []
  const isOutdated = edge.available === null ? 0 : 1
  return [
    gauge('berth_edge_info', 'The HAProxy that runs.', 'version', [[edge.version, 1]]),
    gauge('berth_edge_outdated', 'Whether another HAProxy is available.', 'version', [
      [edge.version, isOutdated],
    ]),
  ]
}

function countServices({ storage }: HttpContext): [string, number][] {
  const states = storage.services.list().map((row) => stateOf(storage, row))
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

/** The values are fixed words or versions: none needs escaping. */
function gauge(name: string, help: string, label: string, counts: [string, number][]): string {
  const lines = counts.map(([value, count]) => `${name}{${label}="${value}"} ${count}`)
  return [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, ...lines, ''].join('\n')
}
