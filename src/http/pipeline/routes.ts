// All routes, one file per noun.

import { accountRoutes } from '../routes/account.ts'
import { actorRoutes } from '../routes/actors.ts'
import { backupRoutes } from '../routes/backups.ts'
import { certificateRoutes } from '../routes/certificates.ts'
import { datastoreShellRoutes } from '../routes/datastore-shell.ts'
import { datastoreRoutes } from '../routes/datastores.ts'
import { deployRoutes } from '../routes/deploys.ts'
import { diskRoutes } from '../routes/disks.ts'
import { domainRoutes } from '../routes/domains.ts'
import { edgeRoutes } from '../routes/edge.ts'
import { envRoutes } from '../routes/env.ts'
import { gitConnectionRoutes } from '../routes/git-connections.ts'
import { jobRoutes } from '../routes/jobs.ts'
import { pageRoutes } from '../routes/pages.ts'
import { registryRoutes } from '../routes/registries.ts'
import { restoreRoutes } from '../routes/restores.ts'
import { serverRoutes } from '../routes/server.ts'
import { serviceRoutes } from '../routes/services.ts'
import { sessionRoutes } from '../routes/sessions.ts'
import { terminalLoginRoutes } from '../routes/terminal-logins.ts'
import { tokenRoutes } from '../routes/tokens.ts'
import { trashRoutes } from '../routes/trash.ts'
import { upgradeRoutes } from '../routes/upgrades.ts'
import { uploadRoutes } from '../routes/uploads.ts'
import type { Route } from './route.ts'

export const routes: readonly Route[] = [
  ...serverRoutes(() => routes),
  ...accountRoutes,
  ...sessionRoutes,
  ...tokenRoutes,
  ...terminalLoginRoutes,
  ...serviceRoutes,
  ...domainRoutes,
  ...certificateRoutes,
  ...edgeRoutes,
  ...envRoutes,
  ...deployRoutes,
  ...uploadRoutes,
  ...jobRoutes,
  ...datastoreRoutes,
  ...upgradeRoutes,
  ...datastoreShellRoutes,
  ...backupRoutes,
  ...restoreRoutes,
  ...gitConnectionRoutes,
  ...registryRoutes,
  ...diskRoutes,
  ...trashRoutes,
  ...actorRoutes,
  ...pageRoutes,
]
