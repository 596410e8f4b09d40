// The catalogue of all actor kinds, over which the daemon iterates.
import type { AnyStateMachine } from 'xstate'
import * as backup from './backup.ts'
import * as certificate from './certificate/certificate.ts'
import * as certificateRecord from './certificate/certificate-record.ts'
import * as cronSchedule from './cron-schedule.ts'
import * as datastore from './datastore/datastore.ts'
import * as datastoreRecord from './datastore/datastore-record.ts'
import * as deploy from './deploy/deploy.ts'
import * as deployRecord from './deploy/deploy-record.ts'
import * as diskChown from './disk-chown.ts'
import * as diskRemoval from './disk-removal.ts'
import * as edge from './edge/edge.ts'
import * as edgeRecord from './edge/edge-record.ts'
import * as gitConnection from './git-connection/git-connection.ts'
import * as gitConnectionRecord from './git-connection/git-connection-record.ts'
import * as jobRun from './job-run/job-run.ts'
import * as jobRunRecord from './job-run/job-run-record.ts'
import * as restore from './restore.ts'
import * as serviceRemoval from './service-removal.ts'
import * as terminalLogin from './terminal-login.ts'

/** The service fields that a transition may write. With `while_live`, only while that deploy is live. */
export interface ServiceEffect {
  live_deploy_id?: string | null
  desired_deploy_id?: string | null
  degraded?: boolean
  deleting?: boolean
  disk_mount_path?: string
  disk_volume?: string
  while_live?: string
}

export interface Kind {
  machine: AnyStateMachine
  version: number
  /** Converts a snapshot of an earlier version. Without it, an actor of such a version is parked. */
  migrate?: (snapshot: unknown, from: number) => unknown
  /** Slots that run again if an aborted effect before them ended after the fence's time limit. */
  cleanups?: readonly string[]
  /** Slots that read foreign input: an actor whose input ends the daemon twice is parked. */
  readers?: readonly string[]
  /** Derives the API record from the snapshot. */
  toRecord: (snapshot: never) => { id: string; status: string; service_id?: string | null; phase?: unknown }
  toService?: (snapshot: never, before: never) => ServiceEffect | null
  /** The status of a discarded parked actor; `failed` by default. */
  discarded?: { status: string; service?: ServiceEffect }
}

export const catalogue = {
  backup,
  certificate: { ...certificate, ...certificateRecord },
  'cron-schedule': cronSchedule,
  datastore: { ...datastore, ...datastoreRecord },
  deploy: { ...deploy, ...deployRecord },
  'disk-chown': diskChown,
  'disk-removal': diskRemoval,
  edge: { ...edge, ...edgeRecord },
  'git-connection': { ...gitConnection, ...gitConnectionRecord },
  'job-run': { ...jobRun, ...jobRunRecord },
  restore,
  'service-removal': serviceRemoval,
  'terminal-login': terminalLogin,
} satisfies Record<string, Kind>

export type Catalogue = typeof catalogue
export type KindName = keyof Catalogue
export type RecordTypes = { [Name in KindName]: ReturnType<Catalogue[Name]['toRecord']> }
