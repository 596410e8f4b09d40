// Actors in responses, with the effects of retrying or discarding a parked one.
import type { ActiveActor, ParkedActor } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import type { Actor } from '../../api/actor.ts'
import { notFound } from '../../errors.ts'

const onRetry = 'it continues where it left off'
const onDiscard =
  'it ends, and nothing supervises it any more; its containers, volumes, images and files stay'

export function findActor({ actors }: Storage, id: string): Actor {
  const parked = actors.parkedOf(id)
  if (parked) return toActor({ actors }, parked, parked)
  const found = [...actors.active()].find((actor) => actor.id === id)
  if (found) return toActor({ actors }, found, null)
  throw notFound('there is no such actor, or it has ended')
}

export function toActor(
  { actors }: Pick<Storage, 'actors'>,
  { id, kind, service_id }: ActiveActor,
  parked: ParkedActor | null,
): Actor {
  const status = actors.record(id)?.status ?? 'failed'
  if (!parked) return { id, kind, service_id, status, parked: null }
  const { at: since, code, reason } = parked
  return {
    id,
    kind,
    service_id,
    status,
    parked: { since, code, reason, on_retry: onRetry, on_discard: onDiscard },
  }
}

export function parkedReason({ actors }: Storage, serviceId: string, live: string | null): string | null {
  const kinds = ['service-removal', 'cron-schedule', 'certificate']
  const found = [
    ...[...actors.parked('deploy', serviceId)].filter(({ id }) => id === live),
    ...kinds.flatMap((kind) => [...actors.parked(kind, serviceId)]),
  ]
  const [first] = found
  if (first) return `the ${first.kind} ${first.id} is parked: ${first.reason}; berth retry ${first.id}`
  const isDiscarded = live !== null && isFailed(actors.record(live)?.status)
  return isDiscarded
    ? `the live deploy ${live} was discarded: its instances are not supervised; deploy again`
    : null
}

function isFailed(status: unknown): boolean {
  return status === 'failed'
}
