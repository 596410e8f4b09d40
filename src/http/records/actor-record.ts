// Actors in responses, with the effects of retrying or discarding a parked one.
import type { ActiveActor, ParkedActor } from '../../../storage/actors/actors.ts'
import type { Actor } from '../../api/actor.ts'
import { Failure } from '../../errors.ts'
import type { HttpStorage } from '../pipeline/context.ts'

/** Throws `not_found`. */
export function findActor({ actors }: HttpStorage, id: string): Actor {
  const parked = actors.parkedOf(id)
  if (parked) return toActor({ actors }, parked, parked)
  const found = [...actors.active()].find((actor) => actor.id === id)
  if (found) return toActor({ actors }, found, null)
  throw new Failure('not_found', 'there is no such actor, or it has ended')
}

export function toActor(
  { actors }: Pick<HttpStorage, 'actors'>,
  { id, kind, service_id }: ActiveActor,
  parked: ParkedActor | null,
): Actor {
  const status = actors.record(id)?.status ?? 'failed'
  if (!parked) return { id, kind, service_id, status, parked: null }
  const { at: since, code, reason } = parked
  const { retry, discard } = effectsByKind[kind] ?? defaultEffects
  return {
    id,
    kind,
    service_id,
    status,
    parked: { since, code, reason, on_retry: retry, on_discard: discard },
  }
}

/** The reason why a parked or discarded actor impairs the service, or null. */
export function parkedReason({ actors }: HttpStorage, serviceId: string, live: string | null): string | null {
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

interface RecoveryEffects {
  retry: string
  discard: string
}

const defaultEffects = {
  retry: 'it continues where it left off',
  discard: 'it ends; the objects that it created stay',
}

const effectsByKind: Record<string, RecoveryEffects> = {
  backup: {
    retry: 'it continues where it left off',
    discard: 'it is no longer listed; its file stays',
  },
  certificate: {
    retry: 'it continues, or is ordered again if its snapshot is lost',
    discard: 'it is abandoned; its host gets another one after the next change of a service',
  },
  'cron-schedule': {
    retry: 'its schedule runs again from now on',
    discard: 'it starts no run until the next deploy is live or the server starts',
  },
  datastore: {
    retry: 'it is supervised again; if its snapshot is lost, it starts on its volume',
    discard: 'it is no longer listed, and its name is free; container and volume stay',
  },
  deploy: {
    retry: 'it continues where it left off, unless a newer deploy took its place',
    discard: 'it counts as failed; its instances serve until the next deploy is live',
  },
  'disk-chown': {
    retry: 'it starts again from the first file',
    discard: 'it counts as failed; some files may have the new owner already',
  },
  'disk-removal': {
    retry: 'it continues where it left off',
    discard: 'the disk is kept, outside the trash',
  },
  edge: {
    retry: 'it is supervised again, or created again if its snapshot is lost',
    discard: 'it is not supervised; HAProxy serves until the next start of the server',
  },
  'git-connection': {
    retry: 'it continues where it left off',
    discard: 'it is deleted with its secrets',
  },
  'job-run': {
    retry: 'it continues where it left off',
    discard: 'it counts as failed; its container stays',
  },
  restore: {
    retry: 'it continues where it left off',
    discard: 'it counts as failed; the data that it loaded stays next to the live data',
  },
  'service-removal': {
    retry: 'the removal continues; if its snapshot is lost, the disk is kept',
    discard: 'the service can be used again, or deleted again',
  },
  'terminal-login': {
    retry: 'it continues where it left off',
    discard: 'it counts as expired; the terminal must start a new login',
  },
}
