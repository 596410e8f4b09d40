// Actors, for administrators: lists them with their histories, and retries or discards parked ones.
import { z } from 'zod'
import type { ListedActor, ParkedActor } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import { tokenIdOf } from '../../account/api-tokens.ts'
import { reachesService } from '../../account/rights.ts'
import {
  Actor,
  ActorHistoryQuery,
  ActorParams,
  ActorsQuery,
  actorGroups,
  DiscardedActor,
  HistoryEntry,
} from '../../api/actor.ts'
import { edgeId } from '../../domain/domains.ts'
import { Failure, notFound } from '../../errors.ts'
import { type Call, type CallById, get, post, tagged, type WithHeaders } from '../pipeline/route.ts'
import { findActor, toActor } from '../records/actor-record.ts'
import { ownerOf, paged } from '../records/paging.ts'
import { resumeEdge } from './edge.ts'

const readsActor = { role: 'read', scope: 'record', params: ActorParams } as const

export const actorRoutes = tagged('Actors', [
  get('/actors', {
    role: 'read',
    scope: 'filtered',
    summary: 'Lists actors: those that an internal error parked, active ones, and ended ones on request',
    description: 'Parked actors come first, then active, then ended ones; each by kind, the newest first.',
    query: ActorsQuery,
    response: z.array(Actor),
    handler: listActors,
  }),
  get('/actors/{id}', {
    ...readsActor,
    summary: 'Returns an actor, also one that has ended',
    response: Actor,
    handler: ({ context: { storage }, params }) => findActor(storage, params.id),
  }),
  get('/actors/{id}/history', {
    ...readsActor,
    summary:
      'Lists the newest transitions of an actor, oldest first; the first 10 and the last 500 are stored',
    query: ActorHistoryQuery,
    response: z.array(HistoryEntry),
    handler: listHistory,
  }),
  post('/actors/{id}/retry', {
    summary: 'Resumes a parked actor',
    params: ActorParams,
    status: 202,
    response: Actor,
    replay: ({ storage }, id) => findActor(storage, id),
    problems: ['not_parked', 'not_recoverable', 'conflict'],
    async handler({ context, params, eventId }) {
      const { id } = params
      const options = { eventId }
      if (id === edgeId) await resumeEdge(context, options)
      else await context.actors.retry(id, options)
      return findActor(context.storage, id)
    },
  }),
  post('/actors/{id}/discard', {
    summary: 'Ends a parked actor and lists the objects that it leaves; none of them is removed',
    params: ActorParams,
    response: DiscardedActor,
    problems: ['not_parked', 'docker_unavailable'],
    handler: discardActor,
  }),
])

function listActors(call: Call<unknown, ActorsQuery>): WithHeaders<Actor[]> {
  const { caller, query } = call
  const { storage } = call.context
  const { kind, status, parked, active, limit, before: after } = query
  const groups = parked ? (['parked'] as const) : actorGroups.filter((group) => !active || group !== 'ended')
  const owner = query.service === undefined ? undefined : ownerOf(storage, query.service)
  const accepts = ({ id, service_id }: ListedActor) =>
    reachesService(caller, service_id) &&
    (status === undefined || storage.actors.record(id)?.status === status)
  const filter = { groups, kind, owner }
  const { records, next } = storage.actors.survey(filter, { limit, after, accepts })
  const place = next && `${next.group}.${next.kind}.${next.id}`
  return paged(
    call,
    records.map((actor) => toActor(storage, actor)),
    place,
  )
}

function listHistory(call: CallById<ActorHistoryQuery>): WithHeaders<HistoryEntry[]> {
  const { params, query } = call
  const { actors } = call.context.storage
  if (!actors.find(params.id)) throw notFound('there is no such actor')
  const entries = actors.newestHistory(params.id, query.limit, query.before)
  const [first] = entries
  const isLast = first === undefined || actors.newestHistory(params.id, 1, first.revision).length === 0
  return paged(call, entries, isLast ? null : String(first.revision))
}

/** Lists the actor's Docker objects first, so it fails while the engine does not respond. */
async function discardActor({ context, params, eventId }: CallById): Promise<DiscardedActor> {
  const { storage, actors, observe } = context
  const actor = findParked(storage, params.id)
  const { id, kind, service_id } = actor
  const left = await observe.leftBehind(actor)
  const status = 'discarded'
  const response: DiscardedActor = { id, kind, service_id, status, parked: null, left_behind: left }
  await actors.discard(id, {
    also: (commit) => {
      if (kind === 'datastore') storage.datastores.trashWithin(id)
      if (kind === 'git-connection') {
        storage.gitConnections.removeWithin(id)
        storage.gitAuthorizations.removeWithin(id)
      }
      // An approved login has already created its token.
      if (kind === 'terminal-login') storage.tokens.removeWithin(commit, tokenIdOf(id))
      if (eventId !== undefined) storage.events.keep(eventId, new Date().toISOString(), response)
    },
  })
  return response
}

function findParked({ actors }: Storage, id: string): ParkedActor {
  const parked = actors.parkedOf(id)
  if (parked) return parked
  if (actors.record(id)) throw new Failure('not_parked', `${id} is not parked`)
  throw notFound('there is no such actor')
}
