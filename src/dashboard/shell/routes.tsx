// The addresses of the dashboard. Each page is loaded when it is first shown.
import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import { deployQuery } from '../deploy/queries.ts'
import { serviceQuery, servicesQuery } from '../service/queries.ts'
import { Services } from '../service/services.tsx'
import { Frame } from './frame.tsx'
import { LoadProblem, NotFound } from './problem.tsx'

interface Context {
  client: QueryClient
}

const root = createRootRouteWithContext<Context>()({
  component: Frame,
  notFoundComponent: NotFound,
  errorComponent: LoadProblem,
})

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/services' })
  },
})

const services = createRoute({
  getParentRoute: () => root,
  path: '/services',
  validateSearch: (search: Record<string, unknown>) =>
    search.q === undefined ? {} : { q: String(search.q) },
  loader: ({ context }) => void context.client.prefetchQuery(servicesQuery),
  component: Services,
})

const service = createRoute({
  getParentRoute: () => root,
  path: '/services/$name',
  loader: ({ context, params }) => void context.client.prefetchQuery(serviceQuery(params.name)),
  component: lazyRouteComponent(() => import('../service/overview.tsx'), 'Overview'),
})

const deploy = createRoute({
  getParentRoute: () => root,
  path: '/services/$name/deploys/$id',
  loader: ({ context, params }) => void context.client.prefetchQuery(deployQuery(params.id)),
  component: lazyRouteComponent(() => import('../deploy/deploy.tsx'), 'DeployPage'),
})

export function createAppRouter(client: QueryClient) {
  const routeTree = root.addChildren([start, services, service, deploy])
  return createRouter({ routeTree, context: { client }, defaultPreload: 'intent', scrollRestoration: true })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}
