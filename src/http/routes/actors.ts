// Actors, for administrators: lists unfinished ones, and retries or discards parked ones.
import { z } from 'zod'
import type { ParkedActor } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import { tokenIdOf } from '../../account/api-tokens.ts'
import { Actor, ActorParams, ActorsQuery, DiscardedActor } from '../../api/actor.ts'
import { edgeId } from '../../domain/domains.ts'
import { Failure, notFound } from '../../errors.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { type Call, type CallById, get, post, tagged } from '../pipeline/route.ts'
import { findActor, toActor } from '../records/actor-record.ts'
import { resumeEdge } from './edge.ts'

const kinds: Record<string, string> = {
  bak: 'backup',
  cli: 'terminal-login',
  crt: 'certificate',
  dep: 'deploy',
  dsk: 'disk-removal',
  dst: 'datastore',
  git: 'git-connection',
  job: 'job-run',
  own: 'disk-chown',
  rst: 'restore',
  sch: 'cron-schedule',
  svc: 'service-removal',
}

export const actorRoutes = tagged('Actors', [
  get('/actors', {
    role: 'read',
    summary: 'Lists active actors, and actors that are parked after an error in the server',
    query: ActorsQuery,
    response: z.array(Actor),
    handler: listActors,
  }),
  post('/actors/{id}/retry', {
    summary: 'Resumes a parked actor',
    params: ActorParams,
    status: 202,
    response: Actor,
    replay: replayRetry,
    problems: ['not_parked', 'not_recoverable', 'conflict'],
    async handler({ context, params, eventId }) {
      const { id } = params
      const options = { eventId }
      if (id === edgeId) await resumeEdge(context, options)
      else await context.actors.retry(id, options)
      return replayRetry(context, id)
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

function listActors({ context: { storage }, query }: Call<unknown, ActorsQuery>): Actor[] {
  const { actors } = storage
  const views: Actor[] = []
  for (const actor of actors.parked()) {
    if (views.length < query.limit) views.push(toActor(storage, actor, actor))
  }
  if (query.parked) return views
  for (const actor of actors.active()) {
    if (views.length >= query.limit) break
    views.push(toActor(storage, actor, null))
  }
  return views
}

/** The response to a repeated request: the actor as it is now. */
function replayRetry(context: HttpContext, id: string): Actor {
  const { actors } = context.storage
  const record = actors.record(id)
  // The actor may have finished.
  if (record && !actors.parkedOf(id) && ![...actors.active()].some((actor) => actor.id === id)) {
    const kind = kindOf(id)
    const service_id = typeof record.service_id === 'string' ? record.service_id : null
    return { id, kind, service_id, status: record.status, parked: null }
  }
  return findActor(context.storage, id)
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

function kindOf(id: string): string {
  return kinds[id.split('-')[0]!] ?? id
}
