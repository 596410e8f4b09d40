// The charts of the actors.
import { z } from 'zod'
import { actorKinds } from './actor.ts'
import { bounded, identifier, text, whole } from './parts/fields.ts'

const kind = z.enum(actorKinds).describe('The kind of its actors.')
const version = z.int().describe('The version of the chart.')

export const MachineSummary = z
  .object({
    kind,
    version,
    states: z.int().describe('The number of its states.'),
    actors: z
      .record(z.string(), z.int())
      .describe('How many actors that have not ended are in each state; with regions, in each of several.'),
  })
  .meta({ id: 'MachineSummary', description: 'A chart, and where its actors are.' })
export type MachineSummary = z.output<typeof MachineSummary>

const State = z
  .object({
    id: z.string().describe('The path, as in histories: `running.building`. Empty for the chart itself.'),
    key: z.string().describe('The last part of the path.'),
    parent: text.describe('Id of the state around it; null for the chart itself.'),
    type: z.enum(['atomic', 'compound', 'parallel', 'final']).describe('`parallel`: all its states at once.'),
    is_initial: z.boolean().describe('The state around it begins here.'),
    is_wait: z.boolean().describe('It may last for as long as nothing happens, unlike a step.'),
    summary: text.describe('What an actor does in this state.'),
  })
  .meta({ id: 'MachineState', description: 'A state of a chart.' })

const Edge = z
  .object({
    from: z.string().describe('Id of a state.'),
    to: z.string().describe('Id of a state.'),
    event: z
      .string()
      .describe(
        'As in histories: `cancel`, `buildImage.done`. Empty for a transition without a cause; `*.failed` ' +
          'for a failure in any state of `via`.',
      ),
    guard: text.describe('The condition.'),
    via: z.array(z.string()).describe('States inside `from` that share this transition; usually none.'),
  })
  .meta({ id: 'MachineEdge', description: 'A transition of a chart.' })

export const Machine = z
  .object({
    kind,
    version,
    states: z.array(State).describe('The chart itself first, each state before its own states.'),
    edges: z.array(Edge).describe('The transitions.'),
  })
  .meta({ id: 'Machine', description: 'A chart as a graph.' })
export type Machine = z.output<typeof Machine>

export const MachineParams = z.object({
  kind: z.string().max(40).describe('The kind. With `.mmd` after it, the response is Mermaid text.'),
})

export const MachineTimesParams = z.object({ kind: z.string().max(40).describe('The kind.') })

export const MachineTimesQuery = z.strictObject({
  service: identifier.optional().describe('Only actors of this service or datastore: its id or name.'),
  last: bounded(20, 1, 50, 'How many of the newest actors count.'),
})
export type MachineTimesQuery = z.output<typeof MachineTimesQuery>

const milliseconds = z.int().min(0)

export const MachineTimes = z
  .record(
    z.string(),
    z.object({
      count: z.int().describe('How often an actor left the state.'),
      median_ms: milliseconds.describe('Half of the visits were not longer.'),
      p90_ms: milliseconds.describe('Nine of ten visits were not longer.'),
      deadline_ms: whole.describe('After how long the state times out; null without a fixed limit.'),
    }),
  )
  .meta({ id: 'MachineTimes', description: 'By id of the state: how long actors were in it.' })
export type MachineTimes = z.output<typeof MachineTimes>
