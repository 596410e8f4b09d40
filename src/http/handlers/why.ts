// Why something failed, or what took so long: of every record that can fail.

import type { BackupParams, RestoreParams } from '../../api/backup.ts'
import type { CertificateParams } from '../../api/certificate.ts'
import type { DatastoreParams } from '../../api/datastore.ts'
import type { DeployParams } from '../../api/deploy.ts'
import type { JobParams } from '../../api/job.ts'
import type { Why } from '../../api/parts/failure.ts'
import type { Call } from '../pipeline/route.ts'
import { findBackup, findRestore } from '../records/backup-record.ts'
import { findDatastore } from '../records/datastore-record.ts'
import { deployAdvice, findDeploy, findJob, runAdvice } from '../records/deploy-record.ts'
import { adviseOnBackup, adviseOnDatastore, adviseOnRestore } from '../why/record-advice.ts'
import { explain } from '../why/why.ts'
import { findCertificate } from './certificates.ts'

export function whyDeploy({ context: { storage }, params }: Call<DeployParams>): Promise<Why> {
  const deploy = findDeploy(storage, params.id)
  return explain(storage, deploy, { advice: deployAdvice(storage, deploy), hasLog: true })
}

export function whyJob({ context: { storage }, params }: Call<JobParams>): Promise<Why> {
  const run = findJob(storage, params.id)
  return explain(storage, run, { advice: runAdvice(storage, run), hasLog: true })
}

export function whyDatastore({ context: { storage }, params }: Call<DatastoreParams>): Promise<Why> {
  const datastore = findDatastore(storage, params.id)
  return explain(storage, datastore, { advice: adviseOnDatastore(datastore, datastore.name), hasLog: false })
}

export function whyBackup({ context: { storage }, params }: Call<BackupParams>): Promise<Why> {
  const backup = findBackup(storage, params.id)
  return explain(storage, backup, { advice: adviseOnBackup(backup), hasLog: false })
}

export function whyRestore({ context: { storage }, params }: Call<RestoreParams>): Promise<Why> {
  const restore = findRestore(storage, params.id)
  return explain(storage, restore, { advice: adviseOnRestore(restore), hasLog: false })
}

export function whyCertificate({ context, params }: Call<CertificateParams>): Promise<Why> {
  const certificate = findCertificate(context, params.id)
  const { hint } = certificate
  const advice = hint === null ? null : { hint, commands: [] }
  return explain(context.storage, certificate, { advice, hasLog: false })
}
