// The catalogue of all actor kinds, over which the daemon iterates.
import type { AnyStateMachine } from 'xstate'
import * as alert from './alert.ts'
import * as autoDeploy from './auto-deploy.ts'
import * as backup from './backup.ts'
import * as certificate from './certificate.ts'
import * as commitStatus from './commit-status.ts'
import * as cronSchedule from './cron-schedule.ts'
import * as datastore from './datastore/datastore.ts'
import * as datastoreRecord from './datastore/datastore-record.ts'
import * as deploy from './deploy/deploy.ts'
import * as diskChown from './disk-chown.ts'
import * as diskRemoval from './disk-removal.ts'
import * as edge from './edge.ts'
import * as gitConnection from './git-connection/git-connection.ts'
import * as jobRun from './job-run.ts'
import * as notification from './notification.ts'
import * as restore from './restore.ts'
import * as serverBackup from './server-backup.ts'
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
  /** Slots that act by the clock or change something elsewhere: on a held server they wait. */
  held?: readonly string[]
  /** Slots that read foreign input: an actor whose input ends the daemon twice is parked. */
  readers?: readonly string[]
  toRecord: (snapshot: never) => { id: string; status: string; service_id?: string | null; phase?: unknown }
  toService?: (snapshot: never, before: never) => ServiceEffect | null
  /** After how long a state times out by the limits of the server; null without such a limit. */
  limitMs?: (state: string, limits: { fetchMs: number; buildMs: number; startMs: number }) => number | null
  /** The status of a discarded parked actor; `failed` by default. */
  discarded?: { status: string; service?: ServiceEffect }
}

export const catalogue = {
  alert,
  'auto-deploy': autoDeploy,
  backup,
  certificate,
  'commit-status': commitStatus,
  'cron-schedule': cronSchedule,
  datastore: { ...datastore, ...datastoreRecord },
  deploy,
  'disk-chown': diskChown,
  'disk-removal': diskRemoval,
  edge,
  'git-connection': gitConnection,
  'job-run': jobRun,
  notification,
  restore,
  'server-backup': serverBackup,
  'service-removal': serviceRemoval,
  'terminal-login': terminalLogin,
} satisfies Record<string, Kind>

export type Catalogue = typeof catalogue
export type KindName = keyof Catalogue
export type RecordTypes = { [Name in KindName]: ReturnType<Catalogue[Name]['toRecord']> }
