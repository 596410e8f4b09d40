// Every route of the API, a file for each heading. Validation, types and the OpenAPI document come from here.
import type { Route } from './route.ts'
import { deployRoutes } from './routes/deploys.ts'
import { diskRoutes } from './routes/disks.ts'
import { envRoutes } from './routes/env.ts'
import { registryRoutes } from './routes/registries.ts'
import { serverRoutes } from './routes/server.ts'
import { serviceRoutes } from './routes/services.ts'

export const routes: readonly Route[] = [
  ...serverRoutes(() => routes),
  ...serviceRoutes,
  ...envRoutes,
  ...deployRoutes,
  ...registryRoutes,
  ...diskRoutes,
]
