// Deploys and job runs in responses: the record, with advice for failures.
import type { ActorRecord } from '../../../storage/actors/actors.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import type { Deploy } from '../../api/deploy.ts'
import type { JobRun } from '../../api/job.ts'
import { Failure } from '../../errors.ts'
import type { HttpStorage } from '../pipeline/context.ts'
import type { Advice } from '../why/advice.ts'
import { adviseOnDeploy } from '../why/deploy-advice.ts'
import { adviseOnRun } from '../why/record-advice.ts'

type Storage = Pick<HttpStorage, 'actors' | 'services'>

export function toDeploy(storage: Storage, record: ActorRecord): Deploy {
  return withHint(record as Deploy, deployAdvice(storage, record as Deploy))
}

/** Null for a deploy that has not failed. */
export function deployAdvice(storage: Storage, deploy: Deploy) {
  const service = deploy.error_code ? readService(storage, deploy.service_id) : null
  return service && adviseOnDeploy(deploy, service)
}

export function toJobRun(storage: Storage, record: ActorRecord): JobRun {
  return withHint(record as JobRun, runAdvice(storage, record as JobRun))
}

/** Null for a run that has not failed. */
export function runAdvice(storage: Storage, run: JobRun) {
  const service = run.error_code ? readService(storage, run.service_id) : null
  return service && adviseOnRun(run, service.name)
}

/** Null for a damaged row, so that the deploys and runs of the service stay readable. */
function readService({ services }: Storage, id: string): ServiceRow | null {
  try {
    return services.get(id)
  } catch {
    return null
  }
}

/** Must not change a record without a failure, because repeated requests get the stored record. */
function withHint<Record>(record: Record, advice: Advice | null): Record {
  return advice ? { ...record, hint: advice.hint } : record
}

/** Finds a deploy by id. Throws `not_found`, also for actors of other kinds. */
export function findDeploy({ actors }: Storage, id: string): Deploy {
  const record = id.startsWith('dep-') ? actors.record(id) : null
  if (!record) throw new Failure('not_found', 'there is no such deploy', 'berth deploys NAME lists them')
  return record as Deploy
}

/** Finds a job run by id. Throws `not_found`, also for actors of other kinds. */
export function findJob({ actors }: Storage, id: string): JobRun {
  const record = id.startsWith('job-') ? actors.record(id) : null
  if (!record) throw new Failure('not_found', 'there is no such job run', 'berth jobs NAME lists them')
  return record as JobRun
}
