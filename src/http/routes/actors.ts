// Routes of actors, for administrators: list, retry, discard.
import { z } from 'zod'
import { Actor, ActorParams, ActorsQuery, DiscardedActor } from '../../api/actor.ts'
import * as actors from '../handlers/actors.ts'
import { get, post, tagged } from '../pipeline/route.ts'

export const actorRoutes = tagged('Actors', [
  get('/actors', {
    role: 'read',
    summary: 'Lists active actors, and actors that are parked after an error in the server',
    query: ActorsQuery,
    response: z.array(Actor),
    handler: actors.listActors,
  }),
  post('/actors/{id}/retry', {
    summary: 'Resumes a parked actor',
    params: ActorParams,
    status: 202,
    response: Actor,
    replay: actors.replayRetry,
    problems: ['not_parked', 'not_recoverable', 'conflict'],
    handler: actors.retryActor,
  }),
  post('/actors/{id}/discard', {
    summary: 'Ends a parked actor and lists the objects that it leaves; none of them is removed',
    params: ActorParams,
    response: DiscardedActor,
    problems: ['not_parked', 'docker_unavailable'],
    handler: actors.discardActor,
  }),
])
