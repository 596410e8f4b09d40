// The charts of the actors: as graphs, as Mermaid text, where their actors are, and how long that takes.
import { z } from 'zod'
import { toMermaid } from '../../../machines/mermaid.ts'
import { reachesService } from '../../account/rights.ts'
import {
  Machine,
  MachineParams,
  MachineSummary,
  MachineTimes,
  MachineTimesParams,
  MachineTimesQuery,
} from '../../api/machine.ts'
import { notFound } from '../../errors.ts'
import { type Call, get, Raw, tagged } from '../pipeline/route.ts'
import { type Chart, charts } from '../records/chart.ts'
import { actorsByState, timesOf } from '../records/machine-record.ts'
import { ownerOf } from '../records/paging.ts'

const suffix = '.mmd'

export const machineRoutes = tagged('Charts', [
  get('/machines', {
    role: 'read',
    scope: 'filtered',
    summary: 'Lists the charts, with the number of actors in each state',
    response: z.array(MachineSummary),
    handler: listMachines,
  }),
  get('/machines/{kind}', {
    role: 'read',
    scope: 'server',
    summary: 'Returns a chart as a graph, or with `.mmd` after the kind as Mermaid text',
    params: MachineParams,
    response: Machine,
    handler: ({ params: { kind } }) =>
      kind.endsWith(suffix)
        ? new Raw(
            200,
            'text/plain; charset=utf-8',
            toMermaid(find(kind.slice(0, -suffix.length)).kind.machine),
          )
        : toMachine(find(kind)),
  }),
  get('/machines/{kind}/times', {
    role: 'read',
    scope: 'filtered',
    summary: 'Returns how long the newest actors of a kind were in each state',
    params: MachineTimesParams,
    query: MachineTimesQuery,
    response: MachineTimes,
    handler: readTimes,
  }),
])

function find(kind: string): Chart {
  const found = charts.get(kind)
  if (!found) throw notFound(`there is no chart ${kind}`, `the charts are ${[...charts.keys()].join(', ')}`)
  return found
}

function listMachines({ context, caller }: Call): MachineSummary[] {
  return [...charts.values()].map((chart) => ({
    kind: chart.name,
    version: chart.kind.version,
    states: chart.ids.length,
    actors: actorsByState(context.storage, chart, ({ service_id }) => reachesService(caller, service_id)),
  }))
}

function toMachine({ name, kind, graph }: Chart): Machine {
  const states = graph.states.map(({ kind: type, isInitial, isWait, summary, ...rest }) => ({
    ...rest,
    type,
    is_initial: isInitial,
    is_wait: isWait,
    summary: summary || null,
  }))
  return { kind: name, version: kind.version, states, edges: graph.edges }
}

function readTimes(call: Call<z.output<typeof MachineTimesParams>, MachineTimesQuery>): MachineTimes {
  const { caller, context, params, query } = call
  const owner = query.service === undefined ? undefined : ownerOf(context.storage, query.service)
  return timesOf(context, find(params.kind), {
    owner,
    last: query.last,
    sees: ({ service_id }) => reachesService(caller, service_id),
  })
}
