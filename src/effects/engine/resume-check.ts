// Whether a parked actor may resume: another actor may have replaced it.
import type { DeploySnapshot } from '../../../machines/deploy/deploy.ts'
import type { JobRunSnapshot } from '../../../machines/job-run.ts'
import type { ActorRow } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import { Failure } from '../../errors.ts'

/** Throws `conflict`. */
export function requireMayResume(storage: Storage, row: ActorRow, snapshot: unknown): void {
  if (row.kind === 'deploy') requireDeployTurn(storage, row, snapshot as DeploySnapshot)
  else if (row.kind === 'job-run') requireOnlyRun(storage, row, snapshot as JobRunSnapshot)
  else if (row.kind === 'certificate') requireOnlyActor(storage, row, 'host')
  else if (row.kind === 'disk-chown') requireOnlyActor(storage, row, 'disk')
  else if (row.kind === 'disk-removal') requireOnlyActor(storage, row, 'disk')
  else if (row.kind === 'restore') requireOnlyActor(storage, row, 'service_id')
}

/** In these states a deploy itself checks immediately whether its service still needs it. */
const selfCheckingStates = ['queued', 'live', 'draining']

/** In other states it would start, switch or clean up for a service that another deploy has changed. */
function requireDeployTurn(
  { actors, services }: Storage,
  { id, service_id }: ActorRow,
  snapshot: DeploySnapshot,
) {
  if (service_id === null || selfCheckingStates.some((state) => snapshot.matches(state as 'queued'))) return
  const others = [...actors.active('deploy', service_id)].map((other) => actors.record(other.id))
  const other = others.find((record) => record?.status === 'queued' || record?.status === 'running')
  if (other) throw supersededFailure(id, `${other.id} is ${other.status}`)
  const live = services.get(service_id)?.live_deploy_id ?? null
  if (live !== snapshot.context.formerDeployId && live !== id)
    throw supersededFailure(id, `${live} is live now`)
}

/** Runs of a schedule never overlap. A run that is still queued stays queued. */
function requireOnlyRun({ actors }: Storage, { id, service_id }: ActorRow, snapshot: JobRunSnapshot) {
  if (service_id === null || snapshot.context.overlap === null || !snapshot.matches('running')) return
  const others = [...actors.active('job-run', service_id)].map((other) => actors.record(other.id))
  const other = others.find((record) => record?.status === 'running' && record.overlap !== null)
  if (other) throw supersededFailure(id, `${other.id} is running`)
}

function requireOnlyActor({ actors }: Storage, { id, kind, service_id }: ActorRow, field: string): void {
  const ownValue = actors.record(id)?.[field]
  const others = [...actors.active(kind, service_id ?? '')].map((other) => actors.record(other.id))
  const other = others.find((record) => record?.[field] === ownValue && record?.status !== 'released')
  if (other) throw supersededFailure(id, `${other.id} does the same`)
}

function supersededFailure(id: string, why: string): Failure {
  const hint = `berth discard ${id} ends it, and lists what it leaves behind`
  return new Failure('conflict', `${id} cannot resume: ${why}`, hint)
}
