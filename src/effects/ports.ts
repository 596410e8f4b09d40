// What the effects of most kinds need of the daemon. What only one kind needs is in the ports of that kind.
// Effects receive ids and look up everything else through their ports, so that they find the same things
// again after a restart.
import type { AlertInput } from '../../machines/alert.ts'
import type { AutoDeployInput } from '../../machines/auto-deploy.ts'
import type { BackupInput } from '../../machines/backup.ts'
import type { CommitStatusInput } from '../../machines/commit-status.ts'
import type { CronScheduleInput } from '../../machines/cron-schedule.ts'
import type { DeployInput } from '../../machines/deploy/deploy-context.ts'
import type { DiskRemovalInput } from '../../machines/disk-removal.ts'
import type { GitConnectionInput } from '../../machines/git-connection/git-connection-context.ts'
import type { JobRunInput } from '../../machines/job-run.ts'
import type { NotificationInput } from '../../machines/notification.ts'
import type { ServerBackupInput } from '../../machines/server-backup.ts'
import type { By } from '../../storage/actors/actors.ts'
import type { Storage } from '../../storage/index.ts'
import type { Commit } from '../../storage/store/store.ts'
import type { Logger } from '../logger.ts'

export interface SharedPorts {
  storage: Storage
  actors: ActorPort
  logger: Logger
}

/** How effects reach other actors: by id, through the supervisor. */
export interface ActorPort {
  send(
    id: string,
    event: { type: string; at: string; [detail: string]: unknown },
    options?: { eventId?: string },
  ): Promise<{ applied: boolean }>
  /** Starts an actor. A known id returns the existing actor. */
  spawn<Kind extends keyof SpawnInputs>(
    kind: Kind,
    id: string,
    input: SpawnInputs[Kind],
    options?: { by: By; eventId?: string; also?: (commit: Commit) => void },
  ): Promise<unknown>
}

type Bound<Parts> = {
  [Name in keyof Parts]: Parts[Name] extends (ports: never, ...rest: infer Rest) => infer Output
    ? (...rest: Rest) => Output
    : never
}

export function bind<Ports, Parts extends Record<string, (ports: Ports, ...rest: never[]) => unknown>>(
  ports: Ports,
  parts: Parts,
): Bound<Parts> {
  const bound = Object.entries(parts).map(([name, work]) => [name, work.bind(null, ports)])
  return Object.fromEntries(bound)
}

interface SpawnInputs {
  alert: AlertInput
  'auto-deploy': AutoDeployInput
  backup: BackupInput
  'commit-status': CommitStatusInput
  'cron-schedule': CronScheduleInput
  deploy: DeployInput
  'disk-removal': DiskRemovalInput
  'git-connection': GitConnectionInput
  'job-run': JobRunInput
  'server-backup': ServerBackupInput
  notification: NotificationInput
}
