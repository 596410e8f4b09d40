// The addresses of the dashboard. Each page is loaded when it is first shown.
import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import type { ActivityFilter } from '../activity/queries.ts'
import { openAlertsQuery } from '../alert/queries.ts'
import type { ChartsSearch } from '../charts/charts.tsx'
import { deployQuery } from '../deploy/queries.ts'
import { jobQuery } from '../job/queries.ts'
import { currentLive } from '../live/feed.ts'
import type { AuditFilter } from '../server/queries.ts'
import { toLogPlace } from '../service/log-place.ts'
import { serviceQuery, servicesQuery } from '../service/queries.ts'
import { Services } from '../service/services.tsx'
import { Frame } from './frame.tsx'
import { heldQuery } from './held.tsx'
import { LoadProblem, NotFound } from './problem.tsx'
import { signInPath } from './sign-in.ts'

interface Context {
  client: QueryClient
}

/** A page is drawn once, with its record, unless that takes long: then it says what it waits for. */
function soon(record: Promise<void>): Promise<void> {
  return Promise.race([record, new Promise<void>((resolve) => setTimeout(resolve, 100))])
}

const root = createRootRouteWithContext<Context>()({
  beforeLoad({ location: { href } }) {
    const { connection, newVersion } = currentLive()
    // The document comes from the server: it asks for a sign-in, or is the one of the new version.
    if (connection.kind === 'signed-out') location.assign(signInPath(href))
    else if (newVersion !== null) location.assign(href)
  },
  loader: ({ context }) => soon(context.client.prefetchQuery(heldQuery)),
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

const texts = (search: Record<string, unknown>, ...names: string[]) =>
  Object.fromEntries(
    names.flatMap((name) => (search[name] === undefined ? [] : [[name, String(search[name])]])),
  )

const services = createRoute({
  getParentRoute: () => root,
  path: '/services',
  validateSearch: (search): { q?: string; state?: string } => texts(search, 'q', 'state'),
  loader: ({ context }) => soon(context.client.prefetchQuery(servicesQuery)),
  component: Services,
})

const service = createRoute({
  getParentRoute: () => root,
  path: '/services/$name',
  loader: ({ context, params }) => soon(context.client.prefetchQuery(serviceQuery(params.name))),
  component: lazyRouteComponent(() => import('../service/overview.tsx'), 'Overview'),
})

const deploys = createRoute({
  getParentRoute: () => root,
  path: '/services/$name/deploys',
  loader: ({ context, params }) => soon(context.client.prefetchQuery(serviceQuery(params.name))),
  component: lazyRouteComponent(() => import('../deploy/list.tsx'), 'DeployList'),
})

type Search = Record<string, unknown>

/** A moment, by the revision that it led to. */
const toMoment = ({ at }: Search): { at?: number } => (Number.isInteger(at) ? { at: at as number } : {})

/** Of a deploy or a job run: its moment, and whether the chart is shown. */
const toRunSearch = (search: Search): { at?: number; chart?: true } => ({
  ...toMoment(search),
  ...(search.chart === true && { chart: true }),
})

const deploy = createRoute({
  getParentRoute: () => root,
  path: '/services/$name/deploys/$id',
  validateSearch: (search: Search): ReturnType<typeof toRunSearch> & { compare?: string } => ({
    ...toRunSearch(search),
    ...(typeof search.compare === 'string' && { compare: search.compare }),
  }),
  loader: ({ context, params }) => soon(context.client.prefetchQuery(deployQuery(params.id))),
  component: lazyRouteComponent(() => import('../deploy/deploy.tsx'), 'DeployPage'),
})

const serviceLogs = createRoute({
  getParentRoute: () => root,
  path: '/services/$name/logs',
  validateSearch: toLogPlace,
  loader: ({ context, params }) => soon(context.client.prefetchQuery(serviceQuery(params.name))),
  component: lazyRouteComponent(() => import('../service/logs.tsx'), 'ServiceLogs'),
})

const jobs = createRoute({
  getParentRoute: () => root,
  path: '/services/$name/jobs',
  loader: ({ context, params }) => soon(context.client.prefetchQuery(serviceQuery(params.name))),
  component: lazyRouteComponent(() => import('../job/list.tsx'), 'JobList'),
})

const job = createRoute({
  getParentRoute: () => root,
  path: '/services/$name/jobs/$id',
  validateSearch: toRunSearch,
  loader: ({ context, params }) => soon(context.client.prefetchQuery(jobQuery(params.id))),
  component: lazyRouteComponent(() => import('../job/job.tsx'), 'JobPage'),
})

const autoDeploys = createRoute({
  getParentRoute: () => root,
  path: '/services/$name/auto-deploys',
  loader: ({ context, params }) => soon(context.client.prefetchQuery(serviceQuery(params.name))),
  component: lazyRouteComponent(() => import('../auto-deploy/page.tsx'), 'AutoDeploysPage'),
})

const alerts = createRoute({
  getParentRoute: () => root,
  path: '/alerts',
  loader: ({ context }) => soon(context.client.prefetchQuery(openAlertsQuery)),
  component: lazyRouteComponent(() => import('../alert/alerts.tsx'), 'AlertsPage'),
})

const activity = createRoute({
  getParentRoute: () => root,
  path: '/activity',
  validateSearch: (search): ActivityFilter => texts(search, 'kind', 'service'),
  component: lazyRouteComponent(() => import('../activity/activity.tsx'), 'ActivityPage'),
})

const charts = createRoute({
  getParentRoute: () => root,
  path: '/charts',
  validateSearch: (search): ChartsSearch => ({
    ...texts(search, 'kind', 'q'),
    ...(search.parked === true && { parked: true }),
  }),
  component: lazyRouteComponent(() => import('../charts/charts.tsx'), 'ChartsPage'),
})

const chart = createRoute({
  getParentRoute: () => root,
  path: '/charts/$kind',
  component: lazyRouteComponent(() => import('../charts/kind.tsx'), 'KindPage'),
})

const actor = createRoute({
  getParentRoute: () => root,
  path: '/charts/$kind/$id',
  validateSearch: toMoment,
  component: lazyRouteComponent(() => import('../charts/actor.tsx'), 'ActorPage'),
})

const doctor = createRoute({
  getParentRoute: () => root,
  path: '/server',
  component: lazyRouteComponent(() => import('../server/doctor.tsx'), 'DoctorPage'),
})

const serverBackups = createRoute({
  getParentRoute: () => root,
  path: '/server/backups',
  component: lazyRouteComponent(() => import('../server/backups.tsx'), 'ServerBackupsPage'),
})

const places = createRoute({
  getParentRoute: () => root,
  path: '/server/places',
  component: lazyRouteComponent(() => import('../server/places.tsx'), 'PlacesPage'),
})

const notifications = createRoute({
  getParentRoute: () => root,
  path: '/server/notifications',
  component: lazyRouteComponent(() => import('../server/notifications.tsx'), 'NotificationsPage'),
})

const gitAccounts = createRoute({
  getParentRoute: () => root,
  path: '/server/git-accounts',
  component: lazyRouteComponent(() => import('../server/git-accounts.tsx'), 'GitAccountsPage'),
})

const audit = createRoute({
  getParentRoute: () => root,
  path: '/server/audit',
  validateSearch: (search): AuditFilter => texts(search, 'actor', 'action', 'subject'),
  component: lazyRouteComponent(() => import('../server/audit.tsx'), 'AuditPage'),
})

export function createAppRouter(client: QueryClient) {
  const routeTree = root.addChildren([
    start,
    services,
    service,
    deploys,
    deploy,
    serviceLogs,
    jobs,
    job,
    autoDeploys,
    alerts,
    activity,
    charts,
    chart,
    actor,
    doctor,
    serverBackups,
    places,
    notifications,
    gitAccounts,
    audit,
  ])
  return createRouter({ routeTree, context: { client }, defaultPreload: 'intent', scrollRestoration: true })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}
