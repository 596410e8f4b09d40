// Lists unfinished actors, and retries or discards parked ones.
import type { ParkedActor } from '../../../storage/actors/actors.ts'
import { tokenIdOf } from '../../account/api-tokens.ts'
import type { Actor, ActorsQuery, DiscardedActor } from '../../api/actor.ts'
import { edgeId } from '../../domain/domains.ts'
import { Failure } from '../../errors.ts'
import type { HttpContext, HttpStorage } from '../pipeline/context.ts'
import type { Call, CallById } from '../pipeline/route.ts'
import { findActor, toActor } from '../records/actor-record.ts'
import { resumeEdge } from './edge.ts'

/** Parked ones first. */
export function listActors({ context: { storage }, query }: Call<unknown, ActorsQuery>): Actor[] {
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

/** Throws `not_found`, `not_parked`, `not_recoverable`, `conflict`. */
export async function retryActor({ context, params, eventId }: CallById): Promise<Actor> {
  const { id } = params
  const options = { eventId }
  if (id === edgeId) await resumeEdge(context, options)
  else await context.actors.retry(id, options)
  return replayRetry(context, id)
}

/** The response to a repeated request: the actor as it is now. */
export function replayRetry(context: HttpContext, id: string): Actor {
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
export async function discardActor({ context, params, eventId }: CallById): Promise<DiscardedActor> {
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

function findParked({ actors }: HttpStorage, id: string): ParkedActor {
  const parked = actors.parkedOf(id)
  if (parked) return parked
  if (actors.record(id)) throw new Failure('not_parked', `${id} is not parked`)
  throw new Failure('not_found', 'there is no such actor')
}

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

function kindOf(id: string): string {
  return kinds[id.split('-')[0]!] ?? id
}
