// Deploys and job runs in responses: the record, with advice for failures.
import type { ActorRecord } from '../../../storage/actors/actors.ts'
import type { Storage } from '../../../storage/index.ts'
import type { ServiceRow } from '../../../storage/services.ts'
import type { Deploy } from '../../api/deploy.ts'
import type { JobRun } from '../../api/job.ts'
import type { HttpContext } from '../pipeline/context.ts'
import { type Advice, adviseOnDeploy, adviseOnRun } from '../why/advice.ts'
import { phasesOf } from './deploy-phases.ts'
import { finder } from './stored-record.ts'

export function toDeploy(storage: Storage, record: ActorRecord): Deploy {
  return withHint(record as Deploy, deployAdvice(storage, record as Deploy))
}

export function toDeployWith(
  storage: Storage,
  include: 'phases' | undefined,
): (record: ActorRecord) => Deploy {
  return (record) => {
    const deploy = toDeploy(storage, record)
    return include === undefined ? deploy : { ...deploy, phases: phasesOf(storage, deploy.id) }
  }
}

export function deployAdvice(storage: Storage, deploy: Deploy) {
  const service = deploy.error_code ? readService(storage, deploy.service_id) : null
  return service && adviseOnDeploy(deploy, service)
}

export function toJobRun(storage: Storage, record: ActorRecord): JobRun {
  return withHint(record as JobRun, runAdvice(storage, record as JobRun))
}

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

const findDeployRecord = finder<'deploy'>('dep', 'deploy', 'berth deploys NAME lists them')
const findJobRecord = finder<'job-run'>('job', 'job run', 'berth jobs NAME lists them')

export function findDeploy(storage: Storage, id: string): Deploy {
  return findDeployRecord(storage, id) as Deploy
}

export function findJob(storage: Storage, id: string): JobRun {
  return findJobRecord(storage, id) as JobRun
}

export function readJob({ storage }: HttpContext, id: string): JobRun {
  return toJobRun(storage, findJob(storage, id))
}
