// All routes, one file per noun.
import { accountRoutes, sessionRoutes, tokenRoutes } from '../routes/account.ts'
import { activityRoutes } from '../routes/activity.ts'
import { actorRoutes } from '../routes/actors.ts'
import { alertRoutes } from '../routes/alerts.ts'
import { auditRoutes } from '../routes/audit.ts'
import { autoDeployRoutes } from '../routes/auto-deploys.ts'
import { backupPlaceRoutes } from '../routes/backup-places.ts'
import { backupRoutes, restoreRoutes } from '../routes/backups.ts'
import { certificateRoutes } from '../routes/certificates.ts'
import { datastoreRoutes, upgradeRoutes } from '../routes/datastores.ts'
import { deployDiffRoutes } from '../routes/deploy-diffs.ts'
import { deployKeyRoutes } from '../routes/deploy-keys.ts'
import { deployRoutes, uploadRoutes } from '../routes/deploys.ts'
import { diskRoutes } from '../routes/disks.ts'
import { doctorRoutes } from '../routes/doctor.ts'
import { domainRoutes } from '../routes/domains.ts'
import { edgeRoutes } from '../routes/edge.ts'
import { envRoutes } from '../routes/env.ts'
import { fileRoutes } from '../routes/files.ts'
import { gitConnectionRoutes } from '../routes/git-connections.ts'
import { hookRoutes } from '../routes/hooks.ts'
import { inspectRoutes } from '../routes/inspect.ts'
import { jobRoutes } from '../routes/jobs.ts'
import { machineRoutes } from '../routes/machines.ts'
import { notificationRoutes } from '../routes/notifications.ts'
import { pageRoutes } from '../routes/pages.ts'
import { registryRoutes } from '../routes/registries.ts'
import { serverRoutes } from '../routes/server.ts'
import { serverBackupRoutes } from '../routes/server-backups.ts'
import { serviceRoutes } from '../routes/services.ts'
import { shellRoutes } from '../routes/shells.ts'
import { terminalLoginRoutes } from '../routes/terminal-logins.ts'
import { trashRoutes } from '../routes/trash.ts'
import type { Route } from './route.ts'

export const routes: readonly Route[] = [
  ...serverRoutes(() => routes),
  ...doctorRoutes,
  ...accountRoutes,
  ...sessionRoutes,
  ...tokenRoutes,
  ...terminalLoginRoutes,
  ...serviceRoutes,
  ...autoDeployRoutes,
  ...domainRoutes,
  ...certificateRoutes,
  ...edgeRoutes,
  ...envRoutes,
  ...deployRoutes,
  ...deployDiffRoutes,
  ...uploadRoutes,
  ...jobRoutes,
  ...datastoreRoutes,
  ...upgradeRoutes,
  ...shellRoutes,
  ...fileRoutes,
  ...backupPlaceRoutes,
  ...backupRoutes,
  ...serverBackupRoutes,
  ...restoreRoutes,
  ...gitConnectionRoutes,
  ...deployKeyRoutes,
  ...hookRoutes,
  ...notificationRoutes,
  ...registryRoutes,
  ...diskRoutes,
  ...trashRoutes,
  ...actorRoutes,
  ...inspectRoutes,
  ...activityRoutes,
  ...alertRoutes,
  ...auditRoutes,
  ...machineRoutes,
  ...pageRoutes,
]
